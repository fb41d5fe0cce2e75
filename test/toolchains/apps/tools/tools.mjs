// Runs every built-in tool once, in its own directory, and gives the results as lines of text.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDefaultToolRegistry } from "@agent/preset-default";

export async function runTools() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "agent-bundled-")));
  const context = {
    systemPrompt: "",
    sessionContext: [],
    sessionContextFilePath: join(root, "session.json"),
  };
  const registry = createDefaultToolRegistry(context, { enable: ["run_bash", "remove"] });
  const calls = [
    ["write_file", { path: join(root, "a.txt"), content: "one\ntwo\n" }],
    ["edit_file", { path: join(root, "a.txt"), old_text: "two", new_text: "three" }],
    ["read_file", { path: join(root, "a.txt") }],
    ["mkdir", { path: join(root, "d") }],
    ["move", { source: join(root, "a.txt"), destination: join(root, "d") }],
    ["list_dir", { path: join(root, "d") }],
    ["search_text", { query: "three", paths: [root] }],
    ["search_text", { query: "^t(\\w)+e$", regex: true, paths: [root] }],
    ["search_text", { query: "(?<=th)r", regex: true, paths: [root] }],
    ["search_files", { pattern: "**/*.txt", path: root }],
    ["run_bash", { command: "printf hello; printf oops >&2; exit 3" }],
    ["remove", { path: join(root, "d") }],
    ["save_session_context", { reason: "done" }],
  ];
  const lines = [];
  for (const [name, args] of calls) {
    const text = await registry.execute(name, args);
    lines.push(`${name}: ${text.replaceAll(root, "ROOT").replace(/"duration_ms":\d+/, '"duration_ms":0')}`);
  }
  rmSync(root, { recursive: true });
  return lines.join("\n");
}
