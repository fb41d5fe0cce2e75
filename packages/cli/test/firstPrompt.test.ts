import { readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { BIN } from "./agent.js";
import { useBuiltChat } from "./builtChat.js";
import { hasTmux } from "./terminal.js";

/** A config that prints, and is not done before the file "go" is there. */
const SLOW = `import { existsSync } from "node:fs";
console.log("printed by the config");
while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 10));
export default {};
`;

describe.skipIf(!hasTmux)("the first prompt (skipped without tmux)", () => {
  const start = useBuiltChat();

  test("waits for no setting: what is sent meanwhile is answered, and what a config prints stands above", async () => {
    const { box, run } = await start();
    box.write("agent.config.mjs", SLOW);
    box.write("go", "");
    await box.run(["tools", "--trust"]);
    rmSync(join(box.project, "go"));
    const terminal = run([]);
    await terminal.until(/printed by the config\n\n› *$/m);
    terminal.send("an early message");
    await terminal.until("queued: an early message");
    terminal.type("and more");
    await terminal.until("› and more");
    box.write("go", "");
    const screen = await terminal.until('You said "an early message".');
    expect(screen.match(/an early message/g)).toHaveLength(2);
    await terminal.until("› and more");
  });

  test("leaves no copy of itself in the scrollback", async () => {
    const terminal = await (await start()).chat();
    expect(terminal.scrollback().match(/›/g)).toHaveLength(1);
  });

  test("makes room for a question, and comes back", async () => {
    const { box, run } = await start();
    box.write("agent.config.mjs", 'export default { systemPrompt: "trusted" };\n');
    const terminal = run([]);
    const asked = await terminal.until("Trust it as it is now?");
    expect(asked).not.toContain("›");
    terminal.send("y");
    await terminal.until("/help lists the commands.");
    terminal.type("words");
    await terminal.until("› words");
  });

  test("leaves the reason and no prompt after a failed start", async () => {
    const { box, run } = await start();
    box.write("agent.config.json", "{ not json");
    const terminal = run([]);
    const screen = await terminal.until("[status 2]");
    expect(screen).toContain("agent.config.json");
    expect(screen).not.toContain("›");
  });
});

test("imports nothing but Node and each other in the files of the first prompt", () => {
  const folder = join(dirname(BIN), "dist");
  const files = new Set(["bin.js"]);
  const others = new Set<string>();
  for (const file of files) {
    const text = readFileSync(join(folder, file), "utf8");
    for (const [, name = ""] of text.matchAll(/^import\b[^'"]*['"]([^'"]+)['"]/gm)) {
      if (name.startsWith("./")) files.add(name.slice(2));
      else if (!name.startsWith("node:")) others.add(name);
    }
    // What the entry loads on demand is what a chat is made of.
    for (const [, name = ""] of text.matchAll(/import\('\.\/((?:chat|common)-[^']+)'\)/g)) files.add(name);
  }
  expect([...others]).toEqual([]);
  expect([...files].some((file) => file.startsWith("chat-"))).toBe(true);
  expect(files.size).toBeLessThanOrEqual(5);
});
