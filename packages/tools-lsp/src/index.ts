import type { Diagnosis, PackHost, PackRegistry } from "@agent/core";
import { check } from "@agent/core/toolkit";
import { AfterEdits } from "./edits/afterEdits.js";
import { checkedOptions, type LspOptions, packName } from "./options.js";
import { Servers } from "./server/servers.js";
import { readingTools } from "./tools/navigation.js";
import { renameTool } from "./tools/rename.js";

export type { LspOptions, ServerOptions } from "./options.js";
export { packName };

export const packApiVersion = 1;

/** The tools this pack brings. */
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
 * Registers the tools and the check after edits. Starts no server: the first edit of a language, or the first call of a
 * tool, does. In a project that the host does not trust, nothing is ever started. Throws on an unknown or mistyped option.
 */
export function register(registry: PackRegistry<LspToolName>, host?: PackHost<LspOptions>): void {
  check.registry(registry);
  const servers = new Servers(checkedOptions(host?.options), host ?? {});
  const tools = [...readingTools(servers), renameTool(servers, host ?? {})];
  for (const tool of tools) registry.register(tool);
  if (host?.trusted === false) {
    for (const { name } of tools) registry.withhold?.(name, UNTRUSTED);
    registry.provide?.({ diagnose: () => [{ subject: "language servers", ok: false, detail: UNTRUSTED }] });
    return;
  }
  registry.provide?.({
    ...(servers.settings.diagnostics && { hooks: new AfterEdits(servers).hooks }),
    diagnose: () => diagnose(servers),
    dispose: () => servers.dispose(),
    terminate: () => servers.terminate(),
  });
}

/** For each language: the server that would be used for a file in the root, and how it is doing. */
function diagnose(servers: Servers): Diagnosis[] {
  const used = servers.list().map((slot): Diagnosis => {
    const { language, program, running, failures, timeouts } = slot;
    const notes = [
      running ? `running as process ${String(running.pid)}` : "not running",
      ...failures.map((reason) => `ended: ${reason}`),
      ...(timeouts > 0 ? [`${timeouts} checks after edits took too long to be reported at once`] : []),
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
