import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withTimeout } from "@agent/internal";
import { type CreateTerminalResponse, methods } from "@agentclientprotocol/sdk";
import type { Editor } from "../editor.js";
import type { CommandTerminal } from "./commandTerminal.js";
import { makePipe, PipeWriter } from "./pipe.js";

const OUTPUT_BYTES = 1024 * 1024;
const EXIT_WAIT_MS = 1000;

/**
 * A terminal of the editor that shows a command of the agent. The command itself runs as a child of the agent, because
 * only the agent can guarantee its sandbox, its limits, an environment without keys and the end of all its processes. The
 * terminal reads the output from a pipe and exits with the same code. `onClosed` is called if the user closes it.
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
    // Put the commands into a script: some editors pass arguments to a shell unquoted, so they must be plain words.
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

function quoted(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}
