import { createHmac } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runsProject, serveRuns, startRun, workOff } from "./runsProject.js";

test("continues a finished run with a message, lists its steps, and starts a fork with some of them", async () => {
  const sandbox = runsProject();
  const id = await startRun(sandbox);
  await workOff(sandbox);
  const sent = await sandbox.run(["runs", "send", id, "and", "now?"]);
  expect(sent).toMatchObject({ code: 0, stdout: `${id}: sent\n` });
  await workOff(sandbox);
  const shown = JSON.parse((await sandbox.run(["runs", "show", id, "--json"])).stdout);
  expect(shown.run).toMatchObject({ state: "done", messages: ["and now?"], epoch: 2 });
  const steps = (await sandbox.run(["runs", "steps", id])).stdout;
  expect(steps).toMatch(
    /^1 +1\/answer\.1 +calls read_file\n2 +1\/call\.c1 +.*hello.*\n3 +2\/answer\.1 +All done\.\n4 +\+1\//,
  );
  const forked = await sandbox.run(["runs", "fork", id, "--steps", "2", "--id", "again"]);
  expect(forked).toMatchObject({ code: 0, stdout: "again\n" });
  await workOff(sandbox);
  const again = JSON.parse((await sandbox.run(["runs", "show", "again", "--json"])).stdout);
  expect(again.run).toMatchObject({ state: "done", forkedFrom: id, messages: [] });
  expect((await sandbox.run(["runs", "fork", id, "--steps", "9"])).stderr).toContain("from 0 to 4");
  await sandbox.run(["runs", "start", "--id", "queued", "x"]);
  await sandbox.run(["runs", "cancel", "queued"]);
  expect(await sandbox.run(["runs", "send", "queued", "hello"])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("Retry it first."),
  });
});

test("runs are paused and resumed, models limited, workers listed, and many runs cancelled", async () => {
  const sandbox = runsProject();
  expect((await sandbox.run(["runs", "pause", "acme"])).stdout).toBe("Paused: tenant acme\n");
  for (const [id, tenant] of [
    ["a1", "acme"],
    ["a2", "acme"],
    ["b1", "other"],
  ] as const) {
    await sandbox.run(["runs", "start", "--id", id, "--tenant", tenant, "look at a.txt"]);
  }
  const worker = sandbox.start(["runs", "work", "--trust", "--json", "--name", "w1", "--label", "gpu"]);
  onTestFinished(() => void worker.kill("SIGTERM"));
  let told = "";
  for await (const chunk of worker.stdout) {
    told += String(chunk);
    if (told.includes('"left"')) break;
  }
  expect(told).toContain('"id":"b1"');
  const workers = (await sandbox.run(["runs", "workers"])).stdout;
  expect(workers).toMatch(/WORKER +RUNS +AGE +LABELS\nw1 .+ 0 of 4 .*gpu/);
  expect(workers).toContain("Paused: tenant acme");
  const cancelled = await sandbox.run(["runs", "cancel", "--tenant", "acme", "--state", "queued", "--json"]);
  expect(JSON.parse(cancelled.stdout).cancelled.sort()).toEqual(["a1", "a2"]);
  expect((await sandbox.run(["runs", "resume", "acme"])).stdout).toBe("Nothing is paused.\n");
  expect((await sandbox.run(["runs", "cancel"])).stderr).toContain("Give the id of a run, or filters");
  expect((await sandbox.run(["runs", "rate", "openai", "600"])).stdout).toBe("openai: 600 calls a minute\n");
  expect((await sandbox.run(["runs", "rate"])).stdout).toBe("openai: 600 calls a minute\n");
  expect((await sandbox.run(["runs", "rate", "openai", "none"])).stdout).toBe("openai: no limit\n");
  expect((await sandbox.run(["runs", "rate", "openai", "many"])).code).toBe(2);
});

test("ends a worker with --drain although runs of a paused tenant are left", async () => {
  const sandbox = runsProject();
  await sandbox.run(["runs", "pause", "acme"]);
  await sandbox.run(["runs", "start", "--id", "a1", "--tenant", "acme", "look at a.txt"]);
  await sandbox.run(["runs", "start", "--id", "b1", "--tenant", "other", "look at a.txt"]);
  expect((await workOff(sandbox)).code).toBe(0);
  await sandbox.run(["runs", "pause"]);
  expect((await workOff(sandbox)).code).toBe(0);
  const states = await Promise.all(
    ["a1", "b1"].map(async (id) => {
      const { stdout } = await sandbox.run(["runs", "show", id, "--json"]);
      return JSON.parse(stdout).run.state;
    }),
  );
  expect(states).toEqual(["queued", "done"]);
});

test("adds, lists, starts and removes a schedule, and refuses one that cannot be read", async () => {
  const sandbox = runsProject();
  const added = await sandbox.run([
    "runs",
    "schedule",
    "tick",
    "* * * * * *",
    "look at a.txt",
    "--time-zone",
    "UTC",
  ]);
  expect(added.stdout).toMatch(/^tick: next at \d{4}-/);
  expect((await sandbox.run(["runs", "schedules"])).stdout).toMatch(
    /tick +\* \* \* \* \* \* UTC .* skip .*look at/,
  );
  const worker = sandbox.start(["runs", "work", "--trust", "--json"]);
  onTestFinished(() => void worker.kill("SIGTERM"));
  let told = "";
  for await (const chunk of worker.stdout) {
    told += String(chunk);
    if (told.includes('"state":"done"')) break;
  }
  expect(told).toMatch(/"id":"tick-\d+T\d+Z"/);
  expect((await sandbox.run(["runs", "unschedule", "tick"])).stdout).toBe("tick: removed\n");
  expect((await sandbox.run(["runs", "unschedule", "tick"])).stderr).toContain("There is no schedule");
  const wrong = await sandbox.run(["runs", "schedule", "x", "every day", "task"]);
  expect(wrong.stderr).toContain("cron must have five fields");
  expect(
    (await sandbox.run(["runs", "schedule", "x", "0 9 * * *", "t", "--overlap", "skp"])).stderr,
  ).toContain('Did you mean "skip"?');
});

test("notifies a webhook and a command that a run waits, without arguments or title of the call", async () => {
  const sandbox = runsProject("Done.", 'confirm: ["read_file"],');
  const got: unknown[] = [];
  const attempts: { id: unknown; path: unknown; isSigned: boolean }[] = [];
  const key = Buffer.alloc(32, "secret");
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = request.headers;
    const wanted = `v1,${createHmac("sha256", key).update(`${id}.${at}.${text}`).digest("base64")}`;
    attempts.push({ id, path: request.url, isSigned: signature === wanted });
    got.push(JSON.parse(text));
    // The first attempt fails, the second one is sent elsewhere.
    if (attempts.length === 1) response.writeHead(503).end();
    else if (attempts.length === 2) response.writeHead(307, { location: "/elsewhere" }).end();
    else response.writeHead(204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const id = await startRun(sandbox);
  const env = {
    AGENT_RUNS_WEBHOOK: `http://127.0.0.1:${port}/hook`,
    AGENT_RUNS_WEBHOOK_SECRET: `whsec_${key.toString("base64")}`,
  };
  const work = ["runs", "work", "--drain", "--trust", "--notify-command", "cat > told.json"];
  const worked = await sandbox.run(work, { env });
  expect(worked.code).toBe(0);
  const message = { v: 1, type: "run", state: "waiting", run: { id }, approvals: [{ name: "read_file" }] };
  const attempt = { id: expect.stringMatching(/^[\w-]{36}$/), path: "/hook", isSigned: true };
  expect(attempts).toEqual([attempt, attempt, attempt]);
  expect(new Set(attempts.map(({ id }) => id)).size).toBe(1);
  expect(got[1]).toMatchObject(message);
  const { approvals } = got[1] as { approvals: unknown };
  expect(JSON.stringify(approvals)).not.toMatch(/args|title|a\.txt/);
  expect(JSON.parse(readFileSync(join(sandbox.project, "told.json"), "utf8"))).toEqual(got[1]);
  const wrong = await sandbox.run(["runs", "work", "--notify-on", "sometimes", "--notify-command", "x"]);
  expect(wrong.stderr).toContain("--notify-on takes waiting, failed, done, cancelled");
  for (const address of ["ftp://hooks.example/key1", "https://me:key1@hooks.example"]) {
    const refused = await sandbox.run(work, { env: { AGENT_RUNS_WEBHOOK: address } });
    expect(refused.stderr).toContain("must be an http(s) address without user and password");
    expect(refused.stderr).not.toContain("key1");
  }
  const short = { ...env, AGENT_RUNS_WEBHOOK_SECRET: "whsec_short" };
  expect((await sandbox.run(work, { env: short })).stderr).toContain("must be whsec_ and 24 to 64 bytes");
});

test("lets each role of the page do what it is for, and serves metrics to all of them", async () => {
  const sandbox = runsProject();
  await startRun(sandbox);
  const tokens = { viewer: "viewer-token-0123", approver: "approver-token-01", admin: "admin-token-012345" };
  const env = {
    AGENT_RUNS_TOKENS: Object.entries(tokens)
      .map((one) => one.join(":"))
      .join(","),
  };
  const server = sandbox.start(["runs", "serve", "--roles"], { env });
  onTestFinished(() => void server.kill("SIGINT"));
  let printed = "";
  for await (const chunk of server.stdout) {
    printed += String(chunk);
    if (printed.includes("admin: ")) break;
  }
  expect(printed).toMatch(/^viewer: http.*viewer-token-0123\napprover: .*\nadmin: .*admin-token-012345\n$/);
  const { origin } = new URL(/http\S+/.exec(printed)?.[0] ?? "");
  const ask = (path: string, role: keyof typeof tokens, body?: unknown) =>
    fetch(origin + path, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${tokens[role]}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const metrics = await (await ask("/metrics", "viewer")).text();
  expect(metrics).toContain('agent_runs{state="queued"} 1\n');
  expect(metrics).toContain("# TYPE agent_runs_undecided gauge\nagent_runs_undecided 0\n");
  expect(metrics).toContain("# TYPE agent_runs_workers gauge\nagent_runs_workers 0\n");
  expect((await fetch(`${origin}/metrics`)).status).toBe(401);
  const statuses = async (path: string, body: unknown) =>
    await Promise.all(
      (["viewer", "approver", "admin"] as const).map(async (role) => (await ask(path, role, body)).status),
    );
  expect(await statuses("/api/runs", { task: "x" })).toEqual([403, 403, 200]);
  expect(await statuses("/api/pause", { paused: true })).toEqual([403, 403, 200]);
  expect(await statuses("/api/bulk", { action: "decide", calls: [], decision: "allow" })).toEqual([
    403, 200, 200,
  ]);
  expect(await statuses("/api/bulk", { action: "cancel", ids: [] })).toEqual([403, 403, 200]);
  const wrong = await sandbox.run(["runs", "serve"], { env: { AGENT_RUNS_TOKENS: "root:short" } });
  expect(wrong.stderr).toContain("$AGENT_RUNS_TOKENS must be role:token");
  expect((await serveRuns(sandbox)).hash).toMatch(/^#token=/);
});
