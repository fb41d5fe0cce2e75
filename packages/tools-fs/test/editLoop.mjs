// Edits one file again and again and prints a line for every edit that was acknowledged. Arguments: file, name, count.
import { ToolRegistry } from "@agent/core";
import { register } from "../dist/index.js";

const [path, name, count] = process.argv.slice(2);
const registry = new ToolRegistry();
register(registry);
for (let number = 1; number <= Number(count); number++) {
  const line = `${name}-${number}`;
  for (;;) {
    // Another process may have edited the file since: read it again, as the error says.
    await registry.execute("read_file", { path, limit: 1 });
    const args = { path, old_text: "end\n", new_text: `${line}\nend\n` };
    const text = await registry.execute("edit_file", args);
    if (text.startsWith("Edited")) break;
    if (!text.includes("changed on disk")) throw new Error(text);
  }
  process.stdout.write(`${line}\n`);
}
