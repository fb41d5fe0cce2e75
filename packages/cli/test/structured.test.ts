import { describe, expect, test } from "vitest";
import { packSource, Sandbox, scripted } from "./agent.js";

const SCHEMA = JSON.stringify({
  type: "object",
  properties: { total: { type: "integer" } },
  required: ["total"],
  additionalProperties: false,
});

describe("--schema", () => {
  test("prints only JSON that fits; an answer that does not is sent back", async () => {
    const box = new Sandbox();
    box.write("schema.json", SCHEMA);
    box.write("agent.config.mjs", scripted(["about five", '{"total": "5"}', '{"total": 5}']));
    const { code, stdout } = await box.run(["--trust", "run", "--schema", "schema.json", "count"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ total: 5 });
    const json = await box.run(["--output", "json", "--schema", "schema.json", "count"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ exitCode: 0, output: { total: 5 } });
  });

  test("fails for a model that never gets it right, and prints nothing", async () => {
    const box = new Sandbox();
    box.write("schema.json", SCHEMA);
    box.write("agent.config.mjs", scripted(["no"]));
    const { code, stdout, stderr } = await box.run(["--trust", "--schema", "schema.json", "count"]);
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain("Check that the schema can be satisfied, or try another model.");
  });

  test.each([
    ["is not there", undefined, "no such file"],
    ["is not JSON", "{", "JSON"],
    ["is no schema", '{"type": 5}', "type"],
    ["holds a list", "[]", "must hold a JSON Schema object, got an empty array"],
  ])("reports an error for a file that %s", async (_, content, message) => {
    const box = new Sandbox();
    if (content !== undefined) box.write("schema.json", content);
    const { code, stderr } = await box.run(["--schema", "schema.json", "count"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--schema schema.json: ");
    expect(stderr).toContain(message);
  });
});

describe("standard output belongs to the caller", () => {
  const noisy = (body: string): Sandbox => {
    const box = new Sandbox();
    box.write("noisy.mjs", packSource("noisy", body));
    box.write("agent.config.mjs", scripted([["noisy", {}], "done"], 'packs: ["./noisy.mjs"],'));
    return box;
  };

  test("redirects what a tool prints there to standard error", async () => {
    const box = noisy('console.log("from console"); process.stdout.write("from write\\n"); return "ok";');
    const { stdout, stderr } = await box.run(["--trust", "--output", "json", "go"]);
    expect(JSON.parse(stdout)).toMatchObject({ exitCode: 0, text: "done" });
    expect(stderr).toContain("from console\nfrom write\n");
    expect((await box.run(["go"])).stdout).toBe("done\n");
  });

  test("prints the JSON object also after a crash", async () => {
    const box = noisy(
      'setTimeout(() => { throw new Error("boom"); }, 0); await new Promise(() => undefined);',
    );
    const { code, stdout, stderr } = await box.run(["--trust", "--output", "json", "go"]);
    expect(code).toBe(70);
    expect(stderr).toContain("uncaught error while noisy was running: boom");
    expect(JSON.parse(stdout)).toMatchObject({
      type: "result",
      exitCode: 70,
      error: expect.stringContaining("boom"),
    });
  });
});
