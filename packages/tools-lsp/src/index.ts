import { type Diagnosis, definePack } from "@agent/core";
import { AfterEdits } from "./edits/afterEdits.js";
import { OPTIONS, PACK_NAME, readServers } from "./options.js";
import { Servers } from "./server/servers.js";
import { readingTools } from "./tools/navigation.js";
import { renameTool } from "./tools/rename.js";

export type { LspOptions, ServerOptions } from "./options.js";

/** The names of this pack's tools. */
export type LspToolName =
  | "lsp_diagnostics"
  | "lsp_definition"
  | "lsp_references"
  | "lsp_symbols"
  | "lsp_rename";

declare module "@agent/core" {
  interface NamedPacks {
    "@agent/tools-lsp": { register: typeof register };
  }
}

const UNTRUSTED =
  "this project is not trusted, and a language server would run its code. To trust it: agent init";

/**
 * Registers the tools, and the check after edits. Starts no server: the first edit of a language, or the first call of
 * a tool, does. In a project that the host does not trust, nothing is ever started. Throws for an unknown or mistyped
 * option.
 */
export const { packName, packApiVersion, followsDirectory, register } = definePack({
  name: PACK_NAME,
  options: OPTIONS,
  followsDirectory: true,
  setup(host) {
    const servers = new Servers(readServers(host.options), host);
    const tools = [...readingTools(servers), renameTool(servers, host)] as const;
    if (host.trusted === false) {
      return {
        tools,
        withheld: Object.fromEntries(tools.map(({ name }) => [name, UNTRUSTED])),
        diagnose: () => [{ subject: "language servers", ok: false, detail: UNTRUSTED }],
      };
    }
    return {
      tools,
      ...(servers.settings.diagnostics && { hooks: new AfterEdits(servers).hooks }),
      diagnose: () => diagnose(servers),
      dispose: () => servers.dispose(),
      terminate: () => servers.terminate(),
    };
  },
});

/** For each language: the server for a file in the root, and its state. */
function diagnose(servers: Servers): Diagnosis[] {
  const used = servers.list().map((slot): Diagnosis => {
    const { language, program, running, failures, timeouts } = slot;
    const notes = [
      running ? `running as process ${String(running.pid)}` : "not running",
      ...failures.map((reason) => `ended: ${reason}`),
      ...(timeouts > 0 ? [`${timeouts} checks after edits took too long to be reported with the edit`] : []),
    ];
    const subject = `language server ${language.name}`;
    return { subject, ok: slot.broken === undefined, detail: `${program.program}: ${notes.join("; ")}` };
  });
  if (used.length > 0) return used;
  return servers.languages.map(({ name, hint }) => {
    const program = servers.programFor(name);
    return program === undefined
      ? { subject: `language server ${name}`, ok: true, detail: `none found; to use one: ${hint}` }
      : { subject: `language server ${name}`, ok: true, detail: program };
  });
}
