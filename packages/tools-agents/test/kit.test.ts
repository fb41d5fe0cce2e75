import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describePack } from "@agent/testing";
import { describe, test } from "vitest";

/** Puts a conversation where the host of the kit lets the pack keep its own. */
async function setup(workspace: string): Promise<void> {
  const directory = join(
    workspace,
    "project-storage",
    encodeURIComponent("@agent/tools-agents"),
    "conversations",
  );
  await mkdir(directory, { recursive: true });
  const messages = [
    { role: "user", content: "Look." },
    { role: "assistant", content: "Seen." },
  ];
  await writeFile(join(directory, "worker-1.json"), JSON.stringify({ agent: "worker", messages }));
}

describePack(import.meta.resolve("@agent/tools-agents"), {
  describe,
  test,
  setup,
  samples: {
    agent_run: { agent: "worker", task: "Find the tests." },
    agent_send: { id: "worker-1", message: "And the documentation?" },
  },
});
