import type { ToolCallContent } from "@agentclientprotocol/sdk";
import type { Editor } from "../editor.js";
import { openDisplayTerminal } from "./displayTerminal.js";
import { openEditorTerminal } from "./editorTerminal.js";

type Meta = Readonly<Record<string, unknown>>;

/** A place in the editor where a command's output is shown as it comes. */
export interface CommandTerminal {
  /** Shown in the call. */
  readonly content: ToolCallContent;
  /** What goes along with the update that shows it. */
  readonly opened: Meta;
  /** Shows more output; what has to go along with an update of the call, if it takes one. */
  write(text: string): Meta | undefined;
  end(exitCode: number): Promise<Meta>;
  /** Gives it back, once the call's last update is sent. */
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
  // Without it the output is shown as text.
  return await openEditorTerminal(editor, command, cwd, onClosed).catch(() => undefined);
}
