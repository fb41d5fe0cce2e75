import * as shared from "@agent/internal";
import { AgentError } from "../../errors.js";

const missing = (name: string): AgentError =>
  new AgentError(
    "unsupported",
    `This runtime has no ${name}: files can be used in Node, Bun and Deno. Keep a conversation elsewhere with conversation.onChange.`,
  );

/** Node's modules, loaded on first use: core also loads and chats in runtimes without them. */
export const nodeFs = /* @__PURE__ */ shared.nodeModule<typeof import("node:fs")>("node:fs", missing);
export const nodePath = /* @__PURE__ */ shared.nodeModule<typeof import("node:path")>("node:path", missing);
export const nodeOs = /* @__PURE__ */ shared.nodeModule<typeof import("node:os")>("node:os", missing);

/**
 * Loads a Node module on first use. A pack that imports `node:child_process` makes every start of an agent pay for it
 * (4 ms), used or not. In a runtime without the module, its first use throws.
 *
 * @example
 * ```ts
 * import { nodeModule } from "@agent/core/toolkit";
 *
 * const path = nodeModule<typeof import("node:path")>("node:path");
 * console.log(path.basename("a/b.txt")); // b.txt
 * ```
 */
export function nodeModule<T extends object>(name: string): T {
  return shared.nodeModule<T>(name, (missing) => new Error(`This runtime has no ${missing}.`));
}
