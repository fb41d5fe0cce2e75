import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { finished, Sandbox, said } from "./agent.js";

/** Two cases of the packs of the config; the scripted model fails the second one if `b.txt` is to be "B". */
const evals = (wanted: string): string => `import { defineEval } from "@agent/evals";

const edit = (path: string, wanted: string) =>
  defineEval({
    name: "edits " + path,
    files: { [path]: "x\\n" },
    task: "Replace x in " + path + ".",
    script: [
      { calls: [{ name: "edit_file", args: { path, old_string: "x", new_string: "y" } }] },
      "Done.",
    ],
    check(run) {
      run.called("edit_file");
      if (run.file(path) !== wanted) throw new Error(path + " is " + JSON.stringify(run.file(path)));
    },
  });

export default [edit("a.txt", "y\\n"), edit("b.txt", ${JSON.stringify(wanted)})];
`;

it("runs, records, replays without a key, compares and reports as JSON", async () => {
  const sandbox = new Sandbox();
  sandbox.write("evals/own.eval.ts", evals("B\n"));
  const record = await sandbox.run(["eval", "evals", "--models", "scripted", "--record"]);
  expect(record.stderr).toMatch(/^passed {2}edits a\.txt \(scripted 1\/1, [\d.]+ s\)$/m);
  expect(record.stderr).toMatch(/^failed {2}edits b\.txt \(scripted 1\/1, .*\): b\.txt is "y\\n"$/m);
  expect(record.stdout).toMatch(/^edits a\.txt +scripted +always +1\/1 .* holds$/m);
  expect(record.stdout).toMatch(/^edits b\.txt +scripted +always +0\/1 .* fails$/m);
  expect(record.code).toBe(1);
  expect(readdirSync(join(sandbox.project, "evals/recordings"))).toEqual([
    "edits-a-txt.scripted.1.json",
    "edits-b-txt.scripted.1.json",
  ]);
  const reportFile = join(sandbox.project, ".agent/eval-report.json");
  const report = readFileSync(reportFile, "utf8");

  sandbox.write("evals/own.eval.ts", evals("y\n"));
  const replay = await sandbox.run(["eval", "evals", "--replay", "--json", "-q"]);
  expect(replay).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(replay.stdout)).toMatchObject({
    v: 1,
    ok: true,
    mode: "replay",
    groups: [{ file: "evals/own.eval.ts", case: "edits a.txt" }, { case: "edits b.txt" }],
    differences: [{ change: "same" }, { change: "fixed", share: 1 }],
  });
  // A replay does not become the last report.
  expect(readFileSync(reportFile, "utf8")).toBe(report);
});

it("asks before it runs an eval that was found and not named", async () => {
  const sandbox = new Sandbox();
  sandbox.write("evals/own.eval.ts", evals("y\n"));
  const args = ["eval", "--models", "scripted", "--case", "a.txt", "--no-report"];
  const refused = await sandbox.run(args);
  expect(refused).toMatchObject({ code: 4, stdout: "" });
  expect(refused.stderr).toMatch(/own\.eval\.ts has not been trusted on this machine, and an eval is code/);
  const trusted = await sandbox.run([...args, "--trust"]);
  expect(trusted.stdout).toMatch(/1 hold, 0 fail, 0 not judged/);
  expect(trusted.code).toBe(0);
  expect(existsSync(join(sandbox.project, ".agent"))).toBe(false);
});

it("ends with what there is on Ctrl-C", async () => {
  const sandbox = new Sandbox();
  const hanging = evals("y\n").replaceAll('"Done."', '() => (console.error("asked"), new Promise(() => {}))');
  sandbox.write("evals/own.eval.ts", hanging);
  const child = sandbox.start(["eval", "evals", "--models", "scripted"]);
  const end = finished(child);
  await said(child.stderr, "asked");
  child.kill("SIGINT");
  const { code, stdout } = await end;
  expect(code).toBe(130);
  expect(stdout).toMatch(/0 hold, 0 fail, 1 not judged; 0 tokens; interrupted/);
});

it.each<[string, readonly string[], RegExp]>([
  [
    "a folder without evals",
    ["src"],
    /There is no eval in src\. Create one, such as evals\/list\.eval\.ts:\n\nimport/,
  ],
  ["a file that is not there", ["missing"], /missing" does not exist/],
  ["a file without a case", ["none.eval.ts"], /none\.eval\.ts" does not export a case/],
  ["a file with an error", ["broken.eval.ts"], /broken\.eval\.ts.*boom/],
  ["no model", ["evals"], /There is no model to run the evals with\. Set a key/],
  ["a case that is not there", ["evals", "--case", "zzz"], /No case has "zzz" in its name/],
  ["nothing recorded", ["evals", "--replay"], /Nothing is recorded for these cases/],
  ["no runs", ["evals", "--runs", "0"], /--runs must be at least 1/],
  ["both modes", ["evals", "--record", "--replay"], /cannot be combined/],
])("refuses %s", async (_, args, message) => {
  const sandbox = new Sandbox();
  sandbox.write("evals/own.eval.ts", evals("y\n"));
  sandbox.write("none.eval.ts", "export default 4;\n");
  sandbox.write("broken.eval.ts", 'throw new Error("boom");\n');
  mkdirSync(join(sandbox.project, "src"));
  const { code, stderr, stdout } = await sandbox.run(["eval", ...args]);
  expect(stderr).toMatch(message);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
});
