import type { CommandTerminal } from "./commandTerminal.js";

/**
 * A terminal that the editor only draws, fed by the updates of the call: an extension that Zed announces as
 * `_meta.terminal_output`, and for which no process is needed.
 */
export function openDisplayTerminal(id: string, cwd: string): CommandTerminal {
  return {
    content: { type: "terminal", terminalId: id },
    opened: { terminal_info: { terminal_id: id, cwd } },
    write: (text) => ({ terminal_output: { terminal_id: id, data: text } }),
    end: async (exitCode) => ({ terminal_exit: { terminal_id: id, exit_code: exitCode, signal: null } }),
    release: async () => undefined,
  };
}
