import { describe, expect, test } from "vitest";
import { useBuiltChat } from "./builtChat.js";
import { refusingServer } from "./servers.js";
import { hasTmux } from "./terminal.js";

describe.skipIf(!hasTmux)("the built commands in a terminal (skipped without tmux)", () => {
  const start = useBuiltChat();

  test("corrects a misspelt command, and asks no model", async () => {
    const { run, model } = await start();
    await run(["dcotor"]).until(/Did you mean "agent doctor"\?[\s\S]*\[status 2\]/);
    expect(model.requests).toEqual([]);
  });

  test("proves each tick of agent doctor: an answer of the model, the server's list, a file in the state directory", async () => {
    const { box, run, model } = await start(["scripted", "other"]);
    const doctor = await run(["doctor"], { columns: 200 }).until("[status 0]");
    expect(doctor).toMatch(/^✓ provider: scripted at 127\.0\.0\.1:\d+ .*, answered in \d/m);
    expect(doctor).toContain("✓ models: 2 models listed, scripted among them\n");
    expect(doctor).toContain(
      `✓ state: trust and sessions in ${box.home}/.local/state/agent (written just now)`,
    );
    expect(model.requests).toHaveLength(1);
    const narrow = await run(["doctor"], { columns: 60, rows: 60 }).until("[status 0]");
    expect(narrow.split("\n").filter((line) => !/^(?:[✓✗] | {4}\S|\[status|#?$)/.test(line))).toEqual([]);
    // Commands of tools cannot open the terminal in which a user starts the agent.
    expect(doctor).not.toContain("got through");
    const env = { AGENT_MODEL: "gone", HOME: "/dev/null" };
    const broken = await run(["doctor"], { columns: 200, env }).until("[status 2]");
    expect(broken).toContain("✗ models: the server lists 2 models, and gone is not among them\n");
    expect(broken).toMatch(/^✗ state: \/dev\/null\S* cannot be written: .*\n {4}Make it writable/m);
    const refused = run(["doctor"], { columns: 200, env: { OPENAI_BASE_URL: await refusingServer() } });
    expect(await refused.until("[status 2]")).toMatch(
      /^✗ provider: scripted at .*: scripted could not answer: 401 bad key.*\n {4}Check the key/m,
    );
  });

  test("shows the tool's arguments with agent tool run NAME --help, and refuses a repeated flag with one value", async () => {
    const { run } = await start();
    const help = await run(["tool", "run", "read_file", "--help"]).until("[status 0]");
    expect(help).toMatch(/Usage: agent tool run read_file[\s\S]*--path +string +required/);
    await run(["--model", "a", "--model", "b", "hello"]).until(/--model is given twice[\s\S]*\[status 2\]/);
    await run(["tool", "run", "read_file", "--path", "a", "--path", "b"]).until(
      /--path is given twice[\s\S]*\[status 2\]/,
    );
  });

  test("stops a model that repeats itself after maxRepeats in the config, and shows an HTML error page as one line", async () => {
    const { box, run } = await start();
    box.write("agent.config.json", JSON.stringify({ maxRepeats: 2 }));
    const call = 'call list_dir {"path":"."}';
    const repeated = run(["--trust", [call, call, call, call].join("\nthen ")]);
    await repeated.until(/agent: .*same .*[\s\S]*\[status 5\]/);
    const page =
      "<!doctype html>\\n<html><head><title>404 Not Found</title></head><body><h1>Lost</h1></body></html>";
    const failed = await run([`status 404 ${page}`]).until("[status 1]");
    expect(failed).toMatch(/404 Not Found \(an HTML page, not an answer of the API\)/);
    expect(failed).not.toContain("<");
  });
});
