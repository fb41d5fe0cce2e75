import type { CommandTerminal } from "./commandTerminal.js";

/**
 * A terminal that the editor only draws: the updates of the call carry its output, and it needs no process. An extension
 * of the protocol that Zed announces as `_meta.terminal_output`.
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
