import { nodeModule } from "@agent/core/toolkit";

export const nodeFs = /* @__PURE__ */ nodeModule<typeof import("node:fs")>("node:fs");
export const nodePath = /* @__PURE__ */ nodeModule<typeof import("node:path")>("node:path");
export const nodeCrypto = /* @__PURE__ */ nodeModule<typeof import("node:crypto")>("node:crypto");
export const nodeNet = /* @__PURE__ */ nodeModule<typeof import("node:net")>("node:net");
export const nodeChildProcess =
  /* @__PURE__ */ nodeModule<typeof import("node:child_process")>("node:child_process");
export const nodeOs = /* @__PURE__ */ nodeModule<typeof import("node:os")>("node:os");
