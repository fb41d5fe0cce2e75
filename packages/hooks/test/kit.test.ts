import { describePack } from "@agent/testing";
import { describe, test } from "vitest";

describePack(new URL("../dist/index.js", import.meta.url), {
  describe,
  test,
  options: { hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "true" }] }] } },
});
