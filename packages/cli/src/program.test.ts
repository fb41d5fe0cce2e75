import { expect, test, vi } from "vitest";
import { runProgram } from "./program.js";

const printed = vi.hoisted(() => ({ text: "" }));
vi.mock("./process/output.js", async (load) => ({
  ...(await load<typeof import("./process/output.js")>()),
  print: (text: string) => {
    printed.text += text;
  },
}));
// Read from the built program's package.
vi.mock("./process/version.js", () => ({ readVersion: () => "0.0.0" }));

async function helpOf(command: readonly string[]): Promise<string> {
  printed.text = "";
  expect(await runProgram([...command, "--help"])).toBe(0);
  return printed.text;
}

/** The help of a command and of all commands below it, by the command. */
async function helpsOf(command: readonly string[]): Promise<[string, string][]> {
  const help = await helpOf(command);
  const [, listed = ""] = help.split("\nCommands:\n");
  const names = [...(listed.split("\n\n", 1)[0] ?? "").matchAll(/^ {2}([a-z]\S*)/gm)].map(
    ([, name]) => name ?? "",
  );
  const below: [string, string][] = [];
  for (const name of names.filter((one) => one !== "help"))
    below.push(...(await helpsOf([...command, name])));
  return [[["agent", ...command].join(" "), help], ...below];
}

test("prints help of at most 80 columns for every command", async () => {
  const helps = await helpsOf([]);
  expect(helps.length).toBeGreaterThan(45);
  const wide = helps.flatMap(([command, help]) =>
    help.split("\n").flatMap((line) => (line.length > 80 ? [`${command}: ${line}`] : [])),
  );
  expect(wide).toEqual([]);
});

test("begins the help of a command with its own options, and groups those that it shares", async () => {
  const help = await helpOf(["mcp", "remove"]);
  const headings = [...help.matchAll(/^\w.*:$/gm)].map(([heading]) => heading);
  expect(headings).toEqual(["Arguments:", "Options:", "Tools:", "Config:", "Model and limits:"]);
  expect(help.split("\nTools:")[0]).toContain("--user");
});
