import { resolve } from "node:path";

/** A tool by Claude Code's name, and its arguments by Claude Code's names. */
interface ClaudeTool {
  readonly names: readonly [string, ...string[]];
  /** Claude Code's names of our arguments. */
  readonly arguments?: Readonly<Record<string, string>>;
}

const FILE = { path: "file_path" };

/** The tool names that existing hook scripts use. Other tools keep their own. */
const TOOLS: Readonly<Record<string, ClaudeTool>> = {
  run_bash: { names: ["Bash"] },
  run_powershell: { names: ["Bash", "PowerShell"] },
  read_file: { names: ["Read"], arguments: FILE },
  write_file: { names: ["Write"], arguments: FILE },
  edit_file: {
    names: ["Edit", "MultiEdit"],
    arguments: { ...FILE, old_text: "old_string", new_text: "new_string" },
  },
  apply_patch: { names: ["Edit", "MultiEdit", "Write"] },
  // They write files too: a hook that checks edits must see them.
  move: { names: ["Write"], arguments: { destination: "file_path" } },
  lsp_rename: { names: ["Edit", "MultiEdit", "Write"], arguments: FILE },
  list_dir: { names: ["LS"] },
  search_files: { names: ["Glob"] },
  search_text: { names: ["Grep"], arguments: { query: "pattern" } },
  web_fetch: { names: ["WebFetch"], arguments: { question: "prompt" } },
  web_search: { names: ["WebSearch"] },
  agent_run: { names: ["Agent", "Task"], arguments: { agent: "subagent_type" } },
};

/** All names a matcher may use for a tool. The first one is passed to hooks as `tool_name`. */
export function toolNames(name: string): readonly [string, ...string[]] {
  const tool = TOOLS[name];
  return tool ? [...tool.names, name] : [name];
}

/** The arguments of a call under our names and Claude Code's. Paths under its names are absolute. */
export function claudeInput(name: string, args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const input: Record<string, unknown> = { ...args };
  for (const [own, other] of Object.entries(TOOLS[name]?.arguments ?? {})) {
    const value = args[own];
    if (value !== undefined) input[other] = other === "file_path" ? resolve(String(value)) : value;
  }
  return input;
}

/** Our arguments, from the input that a hook has changed under either name. */
export function changedArguments(
  name: string,
  sent: Readonly<Record<string, unknown>>,
  changed: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const aliases = Object.entries(TOOLS[name]?.arguments ?? {});
  const args: Record<string, unknown> = { ...changed };
  for (const [own, other] of aliases) {
    if (!(other in changed) || own === other) continue;
    delete args[other];
    const isOwnUnchanged = changed[own] === undefined || changed[own] === sent[own];
    if (changed[other] !== sent[other] && isOwnUnchanged) args[own] = changed[other];
    else if (args[own] === undefined && sent[own] !== undefined) args[own] = sent[own];
  }
  return args;
}
