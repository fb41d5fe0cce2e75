import { AgentError } from "../errors.js";

/**
 * Node's own modules, taken when something in them is used. Core loads and chats in runtimes that have none, such as
 * workers at the edge; only what needs files fails there, with words. Bundlers see no import to complain about.
 */
export const nodeFs = nodeModule<typeof import("node:fs")>("node:fs");
export const nodePath = nodeModule<typeof import("node:path")>("node:path");
export const nodeOs = nodeModule<typeof import("node:os")>("node:os");

function nodeModule<T extends object>(name: string): T {
  return new Proxy({} as T, {
    get(_target, key) {
      const found = globalThis.process?.getBuiltinModule?.(name) as T | undefined;
      if (found) return found[key as keyof T];
      throw new AgentError(
        "unsupported",
        `This runtime has no ${name}: files can be used in Node, Bun and Deno. Keep a conversation elsewhere with conversation.onChange.`,
      );
    },
  });
}
