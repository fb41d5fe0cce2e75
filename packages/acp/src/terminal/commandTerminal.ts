import type { ToolCallContent } from "@agentclientprotocol/sdk";
import type { Editor } from "../editor.js";
import { openDisplayTerminal } from "./displayTerminal.js";
import { openEditorTerminal } from "./editorTerminal.js";

type Meta = Readonly<Record<string, unknown>>;

/** A place in the editor where a command's output is shown as it comes. */
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
  editor: Editor,
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
