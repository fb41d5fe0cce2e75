import type { Diagnosis } from "@agent/core";
import { countOf, quote } from "@agent/core/toolkit";
import type { ServerOptions } from "../config/options.js";
import { schemaTokens } from "../tokens.js";
import type { Lock, LockedServer } from "./lock.js";
import { isGenuine, sourceHash } from "./lockFile.js";

/** The valid part of a lock's entry about one server. */
export interface ServerApproval {
  /** The approved state, without tools whose entry was edited. Absent if nothing was approved. */
  readonly approved: LockedServer | undefined;
  /** As text, for `agent doctor`. */
  diagnose(): Diagnosis;
}

export function readApproval(name: string, server: ServerOptions, lock: Lock): ServerApproval {
  const about = { subject: `MCP server ${name}`, hint: `Run "agent mcp update ${name}".` };
  const refuse = (detail: string): ServerApproval => ({
    approved: undefined,
    diagnose: () => ({ ...about, ok: false, detail }),
  });
  const locked = Object.hasOwn(lock.servers, name) ? lock.servers[name] : undefined;
  if (locked === undefined) return refuse("its tools have not been approved yet");
  if (locked.source !== sourceHash(server)) {
    return refuse("its command or address is not the one its tools were approved for");
  }
  const tools = locked.tools.filter((tool) => isGenuine(name, tool));
  return {
    approved: { ...locked, tools },
    diagnose: () => {
      const edited = locked.tools.filter((tool) => !tools.includes(tool)).map(({ tool }) => quote(tool));
      const detail = `${countOf(tools.length, "tool")}, ${schemaTokens(tools)} tokens of schemas`;
      if (edited.length === 0) return { subject: about.subject, ok: true, detail };
      return { ...about, ok: false, detail: `the lock of ${edited.join(", ")} was edited; ${detail}` };
    },
  };
}

/** Why a tool is withheld, as text for a model and a user. */
export function differsText(server: string, tool: string): string {
  return `its tool ${quote(tool)} is not the one that was approved: it changed or is gone. A user can look at the difference with "agent mcp update ${server}".`;
}
