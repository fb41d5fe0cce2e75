import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventsOf, follow, openEngine, scripted, temporaryDirectory, workWith } from "../../test/helpers.js";
import { spawnWorker } from "../../test/killing.js";
import { startRun } from "../engine/startRun.js";
import { collectEvents, DONE, newRun, reached, TestWorker, text, texts } from "../testing/claims.js";
import type { Command } from "./command.js";
import { createFileEngine } from "./fileEngine.js";

const ENGINE = new URL("../../test/fixtures/fileEngine.mjs", import.meta.url).href;
const crowd = (directory: string) => ({
  engineModule: ENGINE,
  address: join(directory, "runs"),
  effects: join(directory, "effects"),
  leaseMs: 60_000,
});

/** What the log has of a run that waits for a decision. */
function waitingRun(number: number): Command[] {
  const id = crypto.randomUUID();
  const { input: _, ...run } = { ...newRun(), id, title: `the task ${number}` };
  const approval = {
    key: "1:call_0",
    name: "write_file",
    args: { path: `src/${number}.ts`, content: "x".repeat(200) },
    capabilities: ["write"] as const,
    description: { title: "", kind: "other" as const, needs: [] },
  };
  return [
    { op: "create", at: 1, run },
    { op: "claim", at: 2, id, epoch: 1, worker: "gone worker-1" },
    { op: "end", at: 3, id, epoch: 1, state: "waiting", approvals: [approval] },
  ];
}

describe("a directory of runs", () => {
  test("ignores a line that its writer could not finish, and loses nothing else", async () => {
    const directory = temporaryDirectory();
    const engine = openEngine(directory);
    const definition = scripted(["Done."]);
    const first = await startRun(engine, definition, {});
    appendFileSync(join(directory, "log.1.jsonl"), '{"op":"create","at":1,"run":{"id":"torn');
    const second = await startRun(engine, definition, {});
    const other = openEngine(directory);
    expect((await other.list()).map(({ id }) => id)).toEqual([second, first]);
    await workWith(other, definition);
    await follow(engine, second);
    expect((await engine.count()).done).toBe(2);
  });

  test("ignores a torn last line of a journal, and the run continues without it", async () => {
    const directory = temporaryDirectory();
    const engine = openEngine(directory);
    const definition = scripted(["Done."]);
    const id = await startRun(engine, definition, {});
    const worker = await engine.work(
      async (claim) => {
        await claim.append([{ key: "x", kind: "intent", value: null }], []);
        appendFileSync(join(directory, "runs", id, "journal.1.jsonl"), '{"at":1,"j":[{"key":"torn","ki');
        return { state: "queued" };
      },
      {
        name: "torn",
        concurrency: 1,
        definitions: ["scripted"],
        labels: [],
        leaseMs: 60_000,
        maxCrashes: 1,
        onFault: () => undefined,
      },
    );
    for await (const one of engine.events(id, { follow: true })) if ("run" in one && one.run.epoch > 0) break;
    await worker.close();
    await workWith(engine, definition);
    const all = await follow(engine, id);
    expect(all.at(-1)).toMatchObject({ run: { state: "done" } });
  });

  test("ignores writes of a worker that was considered lost and comes back", async () => {
    const directory = temporaryDirectory();
    const [engine, other] = [openEngine(directory), openEngine(directory)];
    const run = newRun();
    await engine.create(run);
    const worker = await TestWorker.start(engine);
    const old = await worker.next();
    await old.append([{ key: "kept", kind: "result", value: 1 }], [text("kept")]);
    // What another worker writes when the lease has ended.
    const crash = { op: "crash", at: 1, id: run.id, epoch: 1, maxCrashes: 9, reason: "no heartbeat" };
    appendFileSync(join(directory, "log.1.jsonl"), `\n${JSON.stringify(crash)}\n`);
    const next = await TestWorker.start(other);
    const now = await next.next();
    expect(now.epoch).toBe(2);
    await expect(
      old.append([{ key: "late", kind: "result", value: 1 }], [text("late")]),
    ).rejects.toMatchObject({
      stop: "lost",
    });
    // The worker was stopped between its last read of the log and its write: the line exists, but no reader counts it.
    const line = { at: 1, j: [{ key: "late", kind: "result", value: 1 }], e: [text("late")] };
    appendFileSync(join(directory, "runs", run.id, "journal.1.jsonl"), `${JSON.stringify(line)}\n`);
    await now.append([{ key: "new", kind: "result", value: 1 }], [text("new")]);
    now.end({ state: "queued" });
    const [again] = await Promise.race([
      worker.next().then((one) => [one]),
      next.next().then((one) => [one]),
    ]);
    expect((await again?.journal())?.map(({ key }) => key)).toEqual(["kept", "new"]);
    expect(texts(await collectEvents(engine.events(run.id)))).toEqual(["kept", "new"]);
    old.end(DONE);
    again?.end(DONE);
    await reached(engine, run.id, "done");
    await Promise.all([worker.close(), next.close()]);
  });

  test("refuses a directory of a newer version with a message, also while it is in use", async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "log.1.jsonl"), '{"op":"format","version":2}\n');
    expect(() => createFileEngine(directory)).toThrow(/written by a newer version .* Upgrade/);
    const used = temporaryDirectory();
    const engine = openEngine(used);
    appendFileSync(join(used, "log.1.jsonl"), '{"op":"teleport","id":"x"}\n');
    appendFileSync(join(used, "log.1.jsonl"), '{"op":"limits","tenant":"a","limits":{"concurrency":1}}\n');
    // It does not continue without the command either.
    for (let time = 0; time < 2; time++) {
      await expect(engine.getLimits("a")).rejects.toThrow('the command "teleport"');
    }
  });

  test("reports a directory that cannot be used", () => {
    const directory = temporaryDirectory();
    const file = join(directory, "file");
    writeFileSync(file, "");
    expect(() => createFileEngine(join(file, "runs"))).toThrow("cannot be used: ENOTDIR");
    expect(() => createFileEngine(directory, { flsh: true } as never)).toThrow('Did you mean "flush"?');
    expect(() => createFileEngine(5 as never)).toThrow("directory must be a string, got number 5.");
  });

  test("accepts no commands after the seal if a process cannot open the next log, and continues when it can", async () => {
    const directory = temporaryDirectory();
    const engine = openEngine(directory);
    const id = await startRun(engine, scripted([]), {});
    const next = join(directory, "log.2.jsonl");
    mkdirSync(next);
    const late = { op: "cancel", at: 1, id, reason: "written behind the seal" };
    appendFileSync(join(directory, "log.1.jsonl"), `{"op":"seal"}\n${JSON.stringify(late)}\n`);
    for (let time = 0; time < 2; time++) await expect(engine.get(id)).rejects.toThrow("EISDIR");
    rmdirSync(next);
    expect(await engine.get(id)).toMatchObject({ state: "queued" });
    expect(await engine.cancel(id, "in time")).toBe(true);
  });

  test("takes no more than 150 bytes of memory for each of 10,000 runs that wait for a decision", async () => {
    const directory = temporaryDirectory();
    const write = (name: string, runs: number): string => {
      const lines = Array.from({ length: runs }, (_, number) => waitingRun(number)).flat();
      mkdirSync(join(directory, name));
      writeFileSync(
        join(directory, name, "log.1.jsonl"),
        lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
      );
      return join(directory, name);
    };
    const script = fileURLToPath(new URL("../../test/fixtures/idleMemory.mjs", import.meta.url));
    const directories = [write("warm", 1000), write("few", 1000), write("many", 11_000)];
    const { stdout } = spawnSync(process.execPath, ["--expose-gc", script, ...directories], {
      encoding: "utf8",
    });
    const [, few, many] = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect([few.waiting, many.waiting]).toEqual([1000, 11_000]);
    expect((many.bytes - few.bytes) / 10_000).toBeLessThan(150);
  });

  test("drops history from a long log while others use it", async () => {
    const directory = temporaryDirectory();
    const [engine, other] = [openEngine(directory), openEngine(directory)];
    const definition = scripted(["Done."]);
    const kept = await startRun(engine, definition, { kept: true }, { tenant: "a", labels: ["nowhere"] });
    await engine.setLimits("a", { concurrency: 3 });
    const log = join(directory, "log.1.jsonl");
    for (let index = 0; index < 5; index++) appendFileSync(log, `${" ".repeat(1024 * 1024)}\n`);
    await workWith(other, definition);
    const ended = await startRun(engine, definition, {});
    await follow(engine, ended);
    expect(await engine.prune(Date.now() + 1000)).toBe(1);
    expect(readFileSync(join(directory, "log.2.jsonl")).length).toBeLessThan(2000);
    // Both, and one that comes new, continue with the new log.
    const last = await startRun(other, definition, {});
    await follow(engine, last);
    const fresh = openEngine(directory);
    expect((await fresh.list()).map(({ id, state }) => [id, state])).toEqual([
      [last, "done"],
      [kept, "queued"],
    ]);
    expect(await fresh.getLimits("a")).toEqual({ concurrency: 3 });
  });

  test("continues runs in a copy of the directory that was made while workers changed it", async () => {
    const directory = temporaryDirectory();
    const engine = openEngine(join(directory, "runs"));
    const ids: string[] = [];
    // Many: some must be left when the program that copies begins, however late a busy machine starts it.
    for (let index = 0; index < 120; index++) {
      ids.push(await startRun(engine, { name: "kills", version: "1" }, {}));
    }
    const worker = spawnWorker(crowd(directory));
    onTestFinished(() => void worker.kill("SIGKILL"));
    await follow(engine, ids[0] ?? "");
    const copied = join(directory, "copied");
    // A program that copies file after file while the worker continues.
    execFileSync("cp", ["-r", join(directory, "runs"), copied]);
    worker.kill("SIGKILL");
    await once(worker, "exit");
    const copy = openEngine(copied);
    const before = await copy.count();
    expect(before.queued + before.running).toBeGreaterThan(0);
    const other = spawnWorker({ ...crowd(directory), address: copied });
    onTestFinished(() => void other.kill("SIGKILL"));
    for (const id of ids) {
      expect((await follow(copy, id)).at(-1)).toMatchObject({ run: { state: "done" } });
    }
  });

  test("continues a killed worker's run in another process immediately, long before its lease ends", async () => {
    const directory = temporaryDirectory();
    const engine = openEngine(join(directory, "runs"));
    const doomed = spawnWorker(crowd(directory), "after write:1");
    onTestFinished(() => void doomed.kill("SIGKILL"));
    const died = new Promise((resolve) => doomed.once("exit", resolve));
    const id = await startRun(engine, { name: "kills", version: "1" }, {});
    await died;
    const other = spawnWorker(crowd(directory));
    onTestFinished(() => void other.kill("SIGKILL"));
    const all = await follow(engine, id);
    expect(all.at(-1)).toMatchObject({ run: { state: "done", crashes: 1, epoch: 2 } });
    const ends = eventsOf(all).filter(
      (event) => event.type === "tool_end" && event.outcome === "interrupted",
    );
    expect(ends).toHaveLength(1);
  });

  test("sets aside a run that kills its worker every time, and reports by whom and how often", async () => {
    const directory = temporaryDirectory();
    const engine = openEngine(join(directory, "runs"));
    const id = await startRun(engine, { name: "kills", version: "1" }, {});
    const program = `
      import { createFileEngine, startWorker } from ${JSON.stringify(fileURLToPath(new URL("../../dist/index.js", import.meta.url)))};
      const create = () => process.kill(process.pid, "SIGKILL");
      await startWorker(createFileEngine(process.argv[1]), { maxCrashes: 3, definitions: [{ name: "kills", version: "1", create }] });
    `;
    for (let index = 0; index < 3; index++) {
      spawnSync(process.execPath, ["--input-type=module", "-e", program, join(directory, "runs")]);
    }
    await workWith(engine, { ...scripted(["Done."]), name: "other" }, { maxCrashes: 3 });
    await follow(engine, id);
    const run = await engine.get(id);
    expect(run).toMatchObject({ state: "set_aside", crashes: 3, error: { code: "set_aside" } });
    expect(run?.error?.message).toMatch(
      /^3 workers were lost with it\. The last: worker .*: its process has ended\.$/,
    );
  });

  const whileFull = "state while full: ";
  const unwritten = "waiting, Its files cannot be used: ENOSPC: no space left on device, write";
  test.skipIf(spawnSync("unshare", ["-rm", "true"]).status !== 0).each([
    ["stops runs", "", `${whileFull}running or queued`, 3],
    ["lets runs wait that it claims", "early", `${whileFull}${unwritten}`, 2],
  ])(
    "%s on a full disk without breaking them, and continues them when there is room (needs unshare)",
    async (_, early, state, writes) => {
      const directory = temporaryDirectory();
      const mount = join(directory, "disk");
      mkdirSync(mount);
      const script = fileURLToPath(new URL("../../test/fixtures/fullDisk.mjs", import.meta.url));
      const child = spawn("unshare", [
        "-rm",
        "sh",
        "-c",
        `mount -t tmpfs -o size=600k none "$1" && exec "$2" "$3" "$1" "$4"`,
        "sh",
        mount,
        process.execPath,
        script,
        early,
      ]);
      let output = "";
      child.stdout.on("data", (chunk) => (output += chunk));
      child.stderr.on("data", (chunk) => (output += chunk));
      await new Promise((resolve) => child.once("close", resolve));
      expect(output.trim().split("\n")).toEqual([
        "a fault was reported: ENOSPC",
        state,
        "state with room: done",
        `writes: ${writes}`,
      ]);
    },
  );
});
