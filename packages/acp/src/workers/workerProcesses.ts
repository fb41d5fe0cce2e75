import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import { type AnyMessage, ndJsonStream, type Stream } from "@agentclientprotocol/sdk";
import { MAX_MESSAGE_BYTES } from "../stream.js";
import type { WorkerProcess } from "./worker.js";

/** How to start a program that serves one more session of the editor over its standard input and output. */
export interface ProgramStart {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Serves sessions in this process, with the interface of a worker process. */
export function inThisProcess(serve: (stream: Stream) => Promise<void>): WorkerProcess {
  const [inward, outward] = [new TransformStream<AnyMessage>(), new TransformStream<AnyMessage>()];
  const ended = serve({ readable: inward.readable, writable: outward.writable }).finally(() =>
    outward.writable.close().catch(() => undefined),
  );
  return {
    stream: { readable: outward.readable, writable: inward.writable },
    ended,
    kill: () => undefined,
  };
}

/** Starts a child process that serves sessions. Its standard error goes to ours. */
export function inChildProcess({ command, args, cwd, env }: ProgramStart): WorkerProcess {
  const child: ChildProcess = spawn(command, args, { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  if (!child.stdin || !child.stdout) throw new Error("the child process has no standard input or output");
  child.stdin.on("error", () => undefined);
  const stream = ndJsonStream(
    Writable.toWeb(child.stdin),
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    { maxMessageBytes: MAX_MESSAGE_BYTES },
  );
  const writer = stream.writable.getWriter();
  const writable = new WritableStream<AnyMessage>({
    write: (message) => writer.write(message),
    // Closing the SDK's stream does not close the program's standard input.
    close: () => void child.stdin?.end(),
  });
  return { stream: { readable: stream.readable, writable }, ended, kill: () => child.kill("SIGKILL") };
}
