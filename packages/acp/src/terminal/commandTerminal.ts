import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, HELPER_ENVIRONMENT, quoteForShell, withTimeout } from "@agent/internal";
import { type CreateTerminalResponse, methods, type ToolCallContent } from "@agentclientprotocol/sdk";
import type { EditorClient } from "../editor.js";

type Meta = Readonly<Record<string, unknown>>;

/** A terminal in the editor that shows a command's output as it arrives. */
export interface CommandTerminal {
  /** The content of the tool call that shows the terminal. */
  readonly content: ToolCallContent;
  /** The `_meta` of the update that shows the terminal. */
  readonly opened: Meta;
  /** Shows more output. Returns the `_meta` of an update of the call, if the terminal is fed by updates. */
  write(text: string): Meta | undefined;
  end(exitCode: number): Promise<Meta>;
  /** Releases the terminal, after the call's last update was sent. */
  release(): Promise<void>;
}

/** A terminal for a command, in the best form the editor offers; `undefined` if it offers none. */
export async function openTerminal(
  editor: EditorClient,
  callId: string,
  command: string,
  cwd: string,
  onClosed: () => void,
): Promise<CommandTerminal | undefined> {
  const { terminal, _meta: meta } = editor.capabilities;
  if (meta?.terminal_output === true) return openDisplayTerminal(callId, cwd);
  if (!terminal || process.platform === "win32") return undefined;
  // If the editor cannot open a terminal, the output is shown as text.
  return await openEditorTerminal(editor, command, cwd, onClosed).catch(() => undefined);
}

/**
 * A terminal that the editor only displays: the updates of the call carry its output, and it needs no process. A
 * protocol extension that Zed announces as `_meta.terminal_output`.
 */
function openDisplayTerminal(id: string, cwd: string): CommandTerminal {
  return {
    content: { type: "terminal", terminalId: id },
    opened: { terminal_info: { terminal_id: id, cwd } },
    write: (text) => ({ terminal_output: { terminal_id: id, data: text } }),
    end: async (exitCode) => ({ terminal_exit: { terminal_id: id, exit_code: exitCode, signal: null } }),
    release: async () => undefined,
  };
}

const OUTPUT_BYTES = 1024 * 1024;
const EXIT_WAIT_MS = 1000;

/**
 * A terminal of the editor that shows a command of the agent. The command itself runs as a child of the agent, because
 * only the agent can guarantee its sandbox, its limits, an environment without keys and the termination of all its
 * processes. The terminal reads the output from a pipe and exits with the same code. `onClosed` is called if the user
 * closes it.
 */
async function openEditorTerminal(
  editor: EditorClient,
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
    // Put the commands into a script: some editors pass arguments to a shell unquoted, so they must be plain words.
    writeFileSync(script, `cat ${quoteForShell(pipe)}\nexit "$(cat ${quoteForShell(status)})"\n`, {
      mode: 0o600,
    });
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
        await withTimeout<unknown>(exited, EXIT_WAIT_MS, () => undefined);
      } finally {
        remove();
      }
      return {};
    },
    // The output stays visible after the release.
    release: async () => {
      await client.request(terminal.release, { sessionId, terminalId }).catch(() => undefined);
    },
  };
}

const RETRY_MS = 20;
/**
 * The maximum output that waits for the reader. If the editor reads too slowly, its terminal misses the oldest output.
 */
const MAX_WAITING_BYTES = 1024 * 1024;
const MAX_WAIT_MS = 5000;

/** Creates a named pipe that only this user can open. Rejects on systems without named pipes. */
async function makePipe(path: string): Promise<void> {
  const mkfifo = findProgram("mkfifo");
  if (mkfifo === undefined) throw new Error("mkfifo is not installed");
  const child = spawn(mkfifo, ["-m", "600", path], { stdio: "ignore", env: HELPER_ENVIRONMENT });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error(`mkfifo ended with ${code}`);
}

/**
 * Writes to a named pipe without ever waiting for its reader: neither the event loop nor a thread blocks if the program
 * at the other end starts late, reads slowly or exits.
 */
class PipeWriter {
  readonly #path: string;
  #fd: number | undefined;
  #waiting: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;
  #ending: (() => void) | undefined;
  #endBy = Number.POSITIVE_INFINITY;
  #isBroken = false;

  constructor(path: string) {
    this.#path = path;
  }

  write(text: string): void {
    if (this.#isBroken || text === "") return;
    this.#waiting.push(Buffer.from(text));
    let size = this.#waiting.reduce((sum, { length }) => sum + length, 0);
    while (size > MAX_WAITING_BYTES && this.#waiting.length > 1) size -= this.#waiting.shift()?.length ?? 0;
    this.#flush();
  }

  /** Resolves when everything is written and the pipe is closed, or when the reader did not read it in time. */
  async end(): Promise<void> {
    if (this.#isBroken) return;
    this.#endBy = performance.now() + MAX_WAIT_MS;
    await new Promise<void>((resolve) => {
      this.#ending = resolve;
      this.#flush();
    });
  }

  /** Stops writing and drops the rest: the reader has exited. */
  abandon(): void {
    clearTimeout(this.#timer);
    this.#close();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    try {
      // Fails with ENXIO as long as no process has the pipe open for reading.
      this.#fd ??= openSync(this.#path, constants.O_WRONLY | constants.O_NONBLOCK);
      for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
        const written = writeSync(this.#fd, next);
        if (written < next.length) this.#waiting[0] = next.subarray(written);
        else this.#waiting.shift();
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const comesLater = code === "ENXIO" || code === "EAGAIN";
      if (comesLater && performance.now() < this.#endBy) {
        this.#timer = setTimeout(() => this.#flush(), RETRY_MS).unref();
        return;
      }
      this.#close();
      return;
    }
    if (this.#ending) this.#close();
  }

  #close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    this.#isBroken = true;
    this.#waiting = [];
    this.#ending?.();
  }
}
