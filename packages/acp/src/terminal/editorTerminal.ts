import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CreateTerminalResponse, methods } from "@agentclientprotocol/sdk";
import type { Editor } from "../editor.js";
import type { CommandTerminal } from "./commandTerminal.js";
import { makePipe, PipeWriter } from "./pipe.js";

const OUTPUT_BYTES = 1024 * 1024;
const EXIT_WAIT_MS = 1000;

/**
 * A terminal of the editor that shows a command of ours. The command itself stays a child of the agent, because only there
 * its sandbox, its limits, its environment without keys and the end of all it starts can be promised; the terminal reads
 * its output from a pipe and ends with its exit code. `onClosed` is called if the person ends it there.
 */
export async function openEditorTerminal(
  editor: Editor,
  command: string,
  cwd: string,
  onClosed: () => void,
): Promise<CommandTerminal> {
  const { client, sessionId } = editor;
  const { terminal } = methods.client;
  const directory = mkdtempSync(join(tmpdir(), "agent-acp-"));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  const [pipe, status, script] = ["output", "status", "show"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  let created: CreateTerminalResponse;
  try {
    await makePipe(pipe);
    writeFileSync(status, "1\n", { mode: 0o600 });
    // Only plain words, since some editors hand command and arguments to a shell unquoted.
    writeFileSync(script, `cat ${quoted(pipe)}\nexit "$(cat ${quoted(status)})"\n`, { mode: 0o600 });
    created = await client.request(terminal.create, {
      sessionId,
      command: "/bin/sh",
      args: [script],
      cwd,
      outputByteLimit: OUTPUT_BYTES,
    });
  } catch (error) {
    remove();
    throw error;
  }
  const { terminalId } = created;
  const writer = new PipeWriter(pipe);
  let isOver = false;
  const exited = client
    .request(terminal.waitForExit, { sessionId, terminalId })
    .then(
      () => undefined,
      () => undefined,
    )
    .then(() => {
      writer.abandon();
      if (!isOver) onClosed();
    });
  writer.write(`$ ${command}\n`);
  return {
    content: { type: "terminal", terminalId },
    opened: {},
    write: (text) => {
      writer.write(text);
      return undefined;
    },
    end: async (exitCode) => {
      isOver = true;
      try {
        writeFileSync(status, `${exitCode}\n`, { mode: 0o600 });
        await writer.end();
        await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, EXIT_WAIT_MS).unref())]);
      } finally {
        remove();
      }
      return {};
    },
    // What it shows stays visible after that.
    release: async () => {
      await client.request(terminal.release, { sessionId, terminalId }).catch(() => undefined);
    },
  };
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}
