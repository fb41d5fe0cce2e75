import { nodeModule } from "@agent/internal";
import { AgentError } from "../../errors.js";

const missing = (name: string): AgentError =>
  new AgentError(
    "unsupported",
    `This runtime has no ${name}: files can be used in Node, Bun and Deno. Keep a conversation elsewhere with conversation.onChange.`,
  );

/** Node's modules, loaded on first use: core also loads and chats in runtimes without them. */
export const nodeFs = /* @__PURE__ */ nodeModule<typeof import("node:fs")>("node:fs", missing);
export const nodePath = /* @__PURE__ */ nodeModule<typeof import("node:path")>("node:path", missing);
export const nodeOs = /* @__PURE__ */ nodeModule<typeof import("node:os")>("node:os", missing);
