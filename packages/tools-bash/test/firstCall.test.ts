import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const pack = new URL("../dist/index.js", import.meta.url);

test("causes no lasting harm if a first command has too few file descriptors", () => {
  // Only a named pipe can be opened as /dev/stderr: a socket, which is used where there are no pipes, cannot.
  const script = `
    import { closeSync, openSync } from "node:fs";
    const { runBashTool } = await import(${JSON.stringify(pack.href)});
    const tool = runBashTool();
    const taken = [];
    try { for (;;) taken.push(openSync(".", "r")); } catch {}
    for (const descriptor of taken.splice(0, Number(process.argv[1]))) closeSync(descriptor);
    await tool.execute({ command: "true" }).catch(() => {});
    for (const descriptor of taken) closeSync(descriptor);
    const { stderr, exit_code } = JSON.parse(await tool.execute({ command: "echo x > /dev/stderr" }));
    await tool.services.dispose();
    console.log(stderr.trim(), exit_code);
  `;
  const node = `ulimit -n 64 && exec "$0" --input-type=module -e "$1" "$2"`;
  for (let left = 0; left < 12; left++) {
    const command = ["-c", node, process.execPath, script, String(left)];
    expect(execFileSync("bash", command, { encoding: "utf8" }), `${left} descriptors`).toBe("x 0\n");
  }
});
