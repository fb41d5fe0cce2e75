import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describePack } from "@agent/testing";
import { describe, test } from "vitest";

const SERVER = fileURLToPath(new URL("fixtures/server.mjs", import.meta.url));
const AT = { path: "a.tst", line: 1, symbol: "alpha" };

describePack(new URL("../dist/index.js", import.meta.url), {
  describe,
  test,
  options: { servers: { test: { command: [process.execPath, SERVER, "pull"], extensions: [".tst"] } } },
  setup: (workspace) => writeFile(join(workspace, "a.tst"), `def alpha\n${"ERR alpha\n".repeat(2000)}`),
  samples: {
    lsp_diagnostics: { path: "a.tst" },
    lsp_definition: AT,
    lsp_references: AT,
    lsp_symbols: [{ path: "a.tst" }, { query: "alpha" }],
    lsp_rename: { ...AT, symbol: "alpha", new_name: "beta" },
  },
  settleMs: 60_000,
});
