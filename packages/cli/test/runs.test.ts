import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { finished, Sandbox, said } from "./agent.js";
import { runsConfig, runsProject, serveRuns, startRun, workOff } from "./runsProject.js";

test("starts a run, executes it in another process, lists, shows and follows it", async () => {
  const sandbox = runsProject();
  const id = await startRun(sandbox);
  expect((await sandbox.run(["runs", "list"])).stdout).toContain("queued");
  const worked = await workOff(sandbox);
  expect(worked.stderr).toContain(`run ${id}: done`);
  const shown = JSON.parse((await sandbox.run(["runs", "show", id, "--json"])).stdout);
  expect(shown).toMatchObject({ v: 1, run: { state: "done", result: { text: "All done." } } });
  const followed = await sandbox.run(["runs", "follow", id]);
  expect(followed).toMatchObject({ code: 0, stdout: "All done.\n" });
  expect(followed.stderr).toContain("read_file");
  const lines = (await sandbox.run(["runs", "follow", id, "--json"])).stdout.trim().split("\n");
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ run: { state: "done" } });
  expect((await sandbox.run(["runs", "prune", "--older", "0s"])).stdout).toBe("1 run removed.\n");
  expect((await sandbox.run(["runs", "list"])).stdout).toContain("No runs.");
});

test("waits without a process for a call that needs approval, and sends a denial to the model with its reason", async () => {
  const sandbox = runsProject("Understood.", 'confirm: ["read_file"],');
  const id = await startRun(sandbox);
  await workOff(sandbox);
  const shown = await sandbox.run(["runs", "show", id]);
  expect(shown.stdout).toContain("waiting for a decision about read_file");
  const denied = await sandbox.run(["runs", "approve", id, "--deny", "not that file"]);
  expect(denied).toMatchObject({ code: 0, stdout: "read_file: denied\n" });
  expect((await sandbox.run(["runs", "approve", id])).stderr).toContain("waits for no decision");
  await workOff(sandbox);
  const { stdout } = await sandbox.run(["runs", "follow", id, "--json"]);
  expect(stdout).toContain("Tool call denied: not that file");
});

test("spells out invisible characters in the question about a call, in the terminal and on the page", async () => {
  const sandbox = new Sandbox();
  const hidden = JSON.stringify({ path: "a\u202etxt.sh", content: "x\u200b" });
  const call = { id: "1'; id #", type: "function", function: { name: "write_file", arguments: hidden } };
  sandbox.write(
    "agent.config.mjs",
    `const toolCalls = [${JSON.stringify(call)}];
export default {
  confirm: ["write_file"],
  provider: { model: "m", respond: async () => ({ content: null, toolCalls, finishReason: "tool_calls" }) },
};
`,
  );
  const id = await startRun(sandbox);
  await workOff(sandbox);
  const { stdout } = await sandbox.run(["runs", "show", id]);
  expect(stdout).toContain("│ path: a\\u202etxt.sh\n│ 1 +x\\u200b\n");
  // A user may copy the line into a shell.
  expect(stdout).toMatch(/--call '[^']*'\\''[^']*'\n$/);
  const url = await serveRuns(sandbox);
  const authorization = `Bearer ${url.hash.slice("#token=".length)}`;
  const answer = await fetch(`${url.origin}/api/runs/${id}`, { headers: { authorization } });
  const { run } = (await answer.json()) as {
    run: { approvals: { question: string; preview: unknown }[] };
  };
  expect(run.approvals[0]?.question).toContain("│ path: a\\u202etxt.sh");
  expect(run.approvals[0]?.preview).toMatchObject({ changes: [{ hunks: [{ lines: ["+x\\u200b"] }] }] });
});

test("shows users of a run its title, when it was queued, that it waits for a worker, why it was cancelled", async () => {
  const sandbox = runsProject();
  const started = await sandbox.run([
    "runs",
    "start",
    "look at a.txt",
    "--title",
    "Friday's look",
    "--id",
    "friday",
  ]);
  expect(started.stdout).toBe("friday\n");
  expect(started.stderr).toContain("Start a worker: agent runs work.");
  expect(started.stderr).toContain("agent runs follow friday");
  const again = await sandbox.run(["runs", "start", "look at a.txt", "--id", "friday"]);
  expect(again).toMatchObject({ code: 0, stdout: "friday\n" });
  expect(again.stderr).toContain("There is a run with this id already: queued");
  const other = await sandbox.run(["runs", "start", "look at b.txt", "--id", "friday"]);
  expect(other.code).not.toBe(0);
  expect(other.stderr).toContain('id "friday" belongs to another run, with another input.');
  const foreign = await sandbox.run(["runs", "start", "look at a.txt", "--id", "friday", "--tenant", "x"]);
  expect(foreign.stderr).toContain('id "friday" belongs to another run. Choose another id');
  expect((await sandbox.run(["runs", "list"])).stdout).toContain("Friday's look");
  const none = await sandbox.run(["runs", "list", "--state", "waiting"]);
  expect(none.stdout).toBe("No such runs. All of them: agent runs list\n");
  const follower = sandbox.start(["runs", "follow", "friday"]);
  onTestFinished(() => void follower.kill("SIGKILL"));
  const followed = finished(follower);
  await said(follower.stderr, "It waits for a worker (dir:");
  expect((await sandbox.run(["runs", "cancel", "friday"])).stdout).toBe("friday: cancelled\n");
  expect(await followed).toMatchObject({ code: 4 });
  const shown = (await sandbox.run(["runs", "show", "friday"])).stdout;
  expect(shown).toMatch(/title: +Friday's look\ntask: +look at a.txt/);
  expect(shown).toMatch(/state: +cancelled: no reason was given/);
  expect(shown).toMatch(/queued at: +2/);
  expect(shown).not.toContain("begun at");
  const refused = await sandbox.run(["runs", "cancel", "friday"]);
  expect(refused.stderr).toContain("Nothing to do: run friday is cancelled: no reason was given.\n");
  const wrong = await sandbox.run(["runs", "start", "x", "--priority", "high"]);
  expect(wrong.stderr).toContain('--priority must be a whole number from -1000 to 1000, got "high".');
});

test("cancels and retries a run, from any process", async () => {
  const sandbox = runsProject();
  const id = await startRun(sandbox);
  expect((await sandbox.run(["runs", "cancel", id, "not", "needed"])).stdout).toBe(`${id}: cancelled\n`);
  expect((await sandbox.run(["runs", "list", "--state", "cancelled"])).stdout).toContain("not needed");
  expect(await sandbox.run(["runs", "cancel", id])).toMatchObject({ code: 4 });
  expect((await sandbox.run(["runs", "retry", id])).stdout).toBe(`${id}: queued\n`);
  await workOff(sandbox);
  expect((await sandbox.run(["runs", "show", id])).stdout).toContain("All done.");
});

test("lists and shows what a run cost, if prices are configured", async () => {
  const sandbox = runsProject("All done.", "prices: { scripted: { input: 1000, output: 2000 } },");
  const id = await startRun(sandbox);
  await workOff(sandbox);
  // Two answers of 10 and 5 tokens.
  expect((await sandbox.run(["runs", "list"])).stdout).toMatch(/30 tokens +\$0\.040 +done/);
  expect((await sandbox.run(["runs", "show", id])).stdout).toMatch(/cost: +\$0\.040\n/);
  const shown = JSON.parse((await sandbox.run(["runs", "list", "--json"])).stdout);
  expect(shown.runs[0].cost).toBeCloseTo(0.04);
});

test("reports a run that continues after the settings have changed, and not one whose settings are the same", async () => {
  const sandbox = runsProject("Understood.", 'confirm: ["read_file"],');
  const id = await startRun(sandbox);
  await workOff(sandbox);
  sandbox.write(
    "agent.config.mjs",
    runsConfig("Understood.", 'confirm: ["read_file"], systemPrompt: "Be brief.",'),
  );
  await sandbox.run(["runs", "approve", id]);
  await workOff(sandbox);
  const { stdout } = await sandbox.run(["runs", "follow", id, "--json"]);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).event?.type);
  expect(events.filter((type) => type === "version")).toHaveLength(1);
  expect(events.indexOf("version")).toBeGreaterThan(events.indexOf("tool_requested"));
  expect(JSON.parse((await sandbox.run(["runs", "show", id, "--json"])).stdout).run.state).toBe("done");
});

test("limits of a tenant are set, kept and taken away", async () => {
  const sandbox = runsProject();
  const limit = async (...args: string[]) => (await sandbox.run(["runs", "limit", "acme", ...args])).stdout;
  expect(await limit()).toBe("acme: no limits\n");
  expect(await limit("--concurrency", "2")).toBe("acme: 2 runs at a time\n");
  expect(await limit("--model-calls", "60")).toBe("acme: 2 runs at a time, 60 model calls a minute\n");
  expect(JSON.parse(await limit("--concurrency", "none", "--json"))).toEqual({
    v: 1,
    tenant: "acme",
    limits: { modelCallsPerMinute: 60 },
  });
  expect(await sandbox.run(["runs", "limit", "acme", "--concurrency", "0"])).toMatchObject({ code: 2 });
});

test("answers every command of runs in JSON", async () => {
  const sandbox = runsProject("Understood.", 'confirm: ["read_file"],');
  const json = async (...args: string[]) => (await sandbox.run(["runs", ...args, "--json"])).stdout;
  const id = await startRun(sandbox);
  const worked = (await json("work", "--drain", "--trust"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(worked).toMatchObject([
    { v: 1, type: "claimed", id },
    { v: 1, type: "left", id },
  ]);
  expect(JSON.parse(await json("list"))).toMatchObject({ v: 1, counts: { waiting: 1 } });
  expect(JSON.parse(await json("show", id))).toMatchObject({ v: 1, run: { state: "waiting" } });
  expect(JSON.parse(await json("approve", id, "--deny", "no"))).toMatchObject({ v: 1, id });
  expect(JSON.parse(await json("cancel", id))).toEqual({ v: 1, id, cancelled: true });
  expect(JSON.parse(await json("retry", id))).toEqual({ v: 1, id, queued: true });
  expect(JSON.parse(await json("prune", "--older", "0s"))).toEqual({ v: 1, removed: 0 });
});

test("names a server that does not answer within a second, without its password", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void silent.close());
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const engine = `postgres://agent:secret@127.0.0.1:${port}/runs`;
  const child = new Sandbox().start(["runs", "list", "--json", "--engine", engine]);
  const [line] = await once(child.stderr, "data");
  child.kill("SIGKILL");
  expect(String(line)).toContain("Opening postgres://");
  expect(String(line)).toContain(`127.0.0.1:${port}/runs…`);
  expect(String(line)).not.toContain("secret");
});

test("runs go only to workers in the directory they were started in", async () => {
  const sandbox = runsProject();
  sandbox.write("other/agent.config.mjs", runsConfig("Elsewhere."));
  const id = await startRun(sandbox);
  const elsewhere = sandbox.start(["runs", "work", "--trust"], { cwd: join(sandbox.project, "other") });
  onTestFinished(() => void elsewhere.kill("SIGKILL"));
  await said(elsewhere.stderr, "Working on runs");
  elsewhere.kill("SIGINT");
  expect((await finished(elsewhere)).code).toBe(0);
  await workOff(sandbox);
  expect((await sandbox.run(["runs", "show", id])).stdout).toContain("All done.");
});

test("does not wait with --drain for a run that only a worker elsewhere can take", async () => {
  const sandbox = runsProject();
  const foreign = await sandbox.run(["runs", "start", "--label", "nowhere", "look at a.txt"]);
  const id = await startRun(sandbox);
  expect((await workOff(sandbox)).stderr).toMatch(/^Working on runs of dir:/);
  expect((await sandbox.run(["runs", "show", id])).stdout).toContain("All done.");
  expect((await sandbox.run(["runs", "show", foreign.stdout.trim()])).stdout).toMatch(/state:\s+queued/);
});

test("lets an interrupted worker with --drain finish its step, returns the run and exits with 130", async () => {
  const sandbox = new Sandbox();
  const gate = join(sandbox.project, "gate");
  sandbox.write(
    "agent.config.mjs",
    `import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
export default { provider: { model: "slow", async respond() {
  while (!existsSync(${JSON.stringify(gate)})) await sleep(10);
  const call = { id: "c1", type: "function", function: { name: "list_dir", arguments: '{"path":"."}' } };
  return { content: null, toolCalls: [call], finishReason: "tool_calls" };
} } };`,
  );
  const id = await startRun(sandbox);
  const worker = sandbox.start(["runs", "work", "--drain", "--trust"]);
  onTestFinished(() => void worker.kill("SIGKILL"));
  const closing = said(worker.stderr, "Closing:");
  await said(worker.stderr, `run ${id}: working on it`);
  worker.kill("SIGINT");
  await closing;
  sandbox.write("gate", "");
  expect((await finished(worker)).code).toBe(130);
  expect((await sandbox.run(["runs", "show", id])).stdout).toMatch(/state:\s+queued/);
});

test.each([
  [["runs", "show", "nothing"], 'There is no run "nothing". List them with: agent runs list'],
  [["runs", "follow", "nothing"], 'There is no run "nothing".'],
  [["runs", "list", "--state", "dome"], '--state has no "dome". Did you mean "done"?'],
  [["runs", "list", "--redis", "redis://127.0.0.1:1"], "--redis needs Postgres"],
  [["runs", "list", "--limit", "0"], "--limit must be a whole number of at least 1"],
  [["runs", "prune", "--older", "soon"], "--older must be a time such as 30d, 12h or 90m"],
  [
    ["runs", "list", "--engine", "mysql://u:secret@x/y"],
    "--engine must be a directory or a postgres:// address",
  ],
  [["runs", "start", "x", "--id", "a b"], "id must be 1 to 100 letters"],
  [["runs", "serve", "--port", "70000"], "--port must be a number from 0 to 65535"],
  [["runs", "serve", "--board", "javascript:alert(1)"], "--board must be an address such as https://"],
])("refuses %j with a message", async (args, message) => {
  const { code, stderr } = await new Sandbox().run(args);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain("secret");
});

test("sends many large events to the page without a warning, and accepts no methods except its own", async () => {
  const sandbox = runsProject();
  const id = await startRun(sandbox);
  await workOff(sandbox);
  const journal = join(sandbox.home, ".local/state/agent/runs/runs", id, "journal.1.jsonl");
  const line = `${JSON.stringify({ at: 1, e: [{ type: "text", text: "x".repeat(500_000) }] })}\n`;
  appendFileSync(journal, line.repeat(40));
  const server = sandbox.start(["runs", "serve", "--json"]);
  onTestFinished(() => void server.kill("SIGKILL"));
  let warnings = "";
  server.stderr.on("data", (chunk: Buffer) => {
    warnings += chunk.toString();
  });
  const [first] = await once(server.stdout, "data");
  const { origin, hash } = new URL(JSON.parse(String(first)).url);
  const headers = { authorization: `Bearer ${hash.slice("#token=".length)}` };
  const events = await (await fetch(`${origin}/api/runs/${id}/events`, { headers })).text();
  expect(events.match(/x{500000}/g)).toHaveLength(40);
  for (const method of ["DELETE", "PUT"]) {
    expect((await fetch(`${origin}/api/runs/${id}`, { method, headers })).status).toBe(405);
  }
  const ended = once(server, "close");
  server.kill("SIGINT");
  await ended;
  expect(warnings).toBe("");
});

test("waits for an outage of the provider, and queues failed runs again together", async () => {
  const sandbox = new Sandbox();
  sandbox.write(
    "agent.config.mjs",
    `import { existsSync } from "node:fs";
let asked = 0;
export default {
  runs: { outages: { firstDelayMs: 10, maxDelayMs: 20 } },
  provider: {
    id: "acme",
    model: "m",
    async respond() {
      if (!existsSync("works") || asked++ < 2) {
        throw Object.assign(new Error("503 overloaded"), { name: "AgentError", code: "provider_failed", retryable: true });
      }
      return { content: "Done.", toolCalls: [], finishReason: "stop" };
    },
  },
};
`,
  );
  const id = await startRun(sandbox, "one");
  await startRun(sandbox, "two");
  const failed = await sandbox.run(["runs", "work", "--drain", "--trust", "--retry-attempts", "1"]);
  expect(failed.stderr).toMatch(/waiting until [-\d ]*\d\d:\d\d.*: 503 overloaded/);
  const { stdout } = await sandbox.run(["runs", "list", "--state", "failed"]);
  expect(stdout).toContain("503 overloaded (it failed once before, since ");
  sandbox.write("works", "");
  expect((await sandbox.run(["runs", "retry"])).stderr).toContain("Give the id of a run, or --failed");
  expect((await sandbox.run(["runs", "retry", id, "--failed"])).stderr).toContain("not both");
  const none = await sandbox.run(["runs", "retry", "--failed", "--tenant", "no one"]);
  expect(none.stdout).toBe("0 runs queued.\n");
  const retried = await sandbox.run(["runs", "retry", "--failed", "--since", "1h"]);
  expect(retried).toMatchObject({ code: 0, stdout: "2 runs queued.\n" });
  await workOff(sandbox);
  expect(JSON.parse((await sandbox.run(["runs", "list", "--json"])).stdout).counts.done).toBe(2);
  const wrong = await sandbox.run(["runs", "work", "--trust", "--max-retries", "-1"]);
  expect(wrong.stderr).toContain('--max-retries must be a whole number of at least 0, got "-1".');
});

test("finds a run by the start of its generated id, if only one begins with it", async () => {
  const sandbox = runsProject();
  const ids = ["5e0fa111-1111-4111-8111-111111111111", "5e0fb222-2222-4222-8222-222222222222", "order-17"];
  for (const id of ids) await sandbox.run(["runs", "start", "write 5e0fa", "--id", id, "--delay", "2h"]);
  const several = await sandbox.run(["runs", "cancel", "5e0f"]);
  expect(several).toMatchObject({ code: 2 });
  expect(several.stderr).toMatch(
    /Several runs begin with "5e0f", such as 5e0f(a1|b2)\S+ and 5e0f(a1|b2)\S+\./,
  );
  // Too short, in the title only, and the start of an id that someone chose.
  for (const none of ["5e0", "write", "order-1"]) {
    expect((await sandbox.run(["runs", "cancel", none])).stderr).toContain(`There is no run "${none}"`);
  }
  expect((await sandbox.run(["runs", "cancel", "5e0fb"])).stdout).toBe(`${ids[1]}: cancelled\n`);
  expect((await sandbox.run(["runs", "show", "5e0fa"])).stdout).toMatch(
    /^run: +5e0fa111-\S+\nstate: +waiting/,
  );
});

test("starts a run for later, finds it by its text, lists it page by page and starts it now", async () => {
  const sandbox = runsProject();
  const later = await sandbox.run(["runs", "start", "write the report", "--id", "report", "--delay", "2h"]);
  expect(later).toMatchObject({ code: 0, stdout: "report\n" });
  expect(later.stderr).toMatch(/^It starts at \d{4}-/m);
  for (const wrong of [
    ["--at", "soon"],
    ["--at", "2026-03-01", "--delay", "1h"],
  ]) {
    expect((await sandbox.run(["runs", "start", "x", ...wrong])).code).not.toBe(0);
  }
  await sandbox.run(["runs", "start", "look around", "--id", "look"]);
  // Ends although the other run still waits for its time.
  await workOff(sandbox);
  const found = await sandbox.run(["runs", "list", "--text", "REPORT"]);
  expect(found.stdout).toMatch(
    /report .*waiting until [-\d ]*\d\d:\d\d.*: The run was started for this time\./,
  );
  expect(found.stdout).not.toContain("look around");
  const page = await sandbox.run(["runs", "list", "--limit", "1"]);
  expect(page.stdout).toContain("2 in all. The next ones: --after look");
  const next = await sandbox.run(["runs", "list", "--limit", "1", "--after", "look"]);
  expect(next.stdout).toContain("write the report");
  expect((await sandbox.run(["runs", "retry", "report"])).stdout).toBe("report: queued\n");
  await workOff(sandbox);
  expect((await sandbox.run(["runs", "list", "--state", "done"])).stdout).toContain("write the report");
});

test("denies a call about which no decision is made in time", async () => {
  const sandbox = runsProject("Understood.", 'confirm: ["read_file"], runs: { approvalTimeoutMs: 1 },');
  const id = await startRun(sandbox);
  await workOff(sandbox);
  await workOff(sandbox);
  const { stdout } = await sandbox.run(["runs", "follow", id, "--json"]);
  expect(stdout).toContain("Tool call denied: No decision was made in time.");
});
