import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import type { Mortal } from "./watchdog.js";

const SOURCE = fileURLToPath(new URL("watchdog.ts", import.meta.url));

/** A sleeper in its own process group. */
function sleeper(env: Record<string, string>): ChildProcess {
  const child = spawn("/bin/sleep", ["600"], { detached: true, stdio: "ignore", env });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** A program with a watchdog over these; it says `ready`, and runs until its input ends. */
async function agentWith(mark: string, mortal: Mortal, ending: string): Promise<ChildProcess> {
  const directory = mkdtempSync(join(tmpdir(), "watchdog-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  buildSync({
    entryPoints: [SOURCE],
    outfile: join(directory, "watchdog.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
  });
  const program = join(directory, "agent.mjs");
  writeFileSync(
    program,
    `import { Watchdog } from "./watchdog.mjs";
     const watchdog = new Watchdog(${JSON.stringify(mark)}, ${JSON.stringify(mortal)});
     process.stdin.once("end", () => { ${ending} }).resume();
     // What was written has left the process by then.
     setImmediate(() => console.log("ready"));`,
  );
  const agent = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void agent.kill("SIGKILL"));
  await once(agent.stdout as NodeJS.ReadableStream, "data");
  return agent;
}

test("stops the process groups of a killed agent and the processes with its tag, and no others", async () => {
  const mark = `AGENT_TEST_MARK=${randomUUID()}`;
  const [name = "", value = ""] = mark.split("=");
  const [grouped, marked, other] = [sleeper({}), sleeper({ [name]: value }), sleeper({ [name]: "other" })];
  const ends = Promise.all([once(grouped, "exit"), once(marked, "exit")]);
  const agent = await agentWith(mark, { groups: [grouped.pid ?? 0] }, "");
  agent.kill("SIGKILL");
  expect((await ends).map(([, signal]) => signal)).toEqual(["SIGKILL", "SIGKILL"]);
  expect(other.exitCode ?? other.signalCode).toBeNull();
});

test("keeps the process groups of an agent that dismisses its watchdog", async () => {
  const kept = sleeper({});
  const agent = await agentWith(
    `AGENT_TEST_MARK=${randomUUID()}`,
    { groups: [kept.pid ?? 0] },
    "watchdog.dismiss();",
  );
  const ended = once(agent, "exit");
  agent.stdin?.end();
  await ended;
  expect(kept.exitCode ?? kept.signalCode).toBeNull();
});

test("removes the placeholders of a killed agent, but nothing that has content or is reached by a link", async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "watchdog placeholders\n* ")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const at = (name: string) => join(base, name);
  for (const name of ["empty", "used", "other", "real", "real/behind"]) mkdirSync(at(name));
  for (const name of ["file", "used/x", "last"]) writeFileSync(at(name), "");
  writeFileSync(at("written"), "x");
  symlinkSync("real", at("link"));
  symlinkSync("other", at("linked"));
  // The last one is removed last.
  const names = ["empty", "file", "used", "written", "link/behind", "linked", "missing", "last"];
  const placeholders = [{ note: undefined, paths: names.map(at) }];
  const agent = await agentWith(randomUUID(), { groups: [], placeholders }, "");
  agent.kill("SIGKILL");
  await expect.poll(() => existsSync(at("last")), { timeout: 60_000 }).toBe(false);
  expect(["empty", "file"].filter((name) => existsSync(at(name)))).toEqual([]);
  for (const name of ["used/x", "written", "real/behind", "linked", "other"])
    expect(existsSync(at(name)), name).toBe(true);
});

test("keeps placeholders of a killed agent that another one has noted, and all of them while the notes are locked", async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "watchdog notes ")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const at = (name: string) => join(base, name);
  const noted = (name: string) => ({ note: at(`${name}.users/own`), paths: [at(`${name}-place`)] });
  for (const name of ["shared", "locked", "alone"]) {
    mkdirSync(at(`${name}.users`));
    mkdirSync(at(`${name}-place`));
    writeFileSync(at(`${name}.users/own`), "");
  }
  writeFileSync(at("shared.users/other"), "");
  symlinkSync("someone 1 2", at("locked"));
  const placeholders = ["shared", "locked", "alone"].map(noted);
  const agent = await agentWith(randomUUID(), { groups: [], placeholders }, "");
  agent.kill("SIGKILL");
  // It comes last.
  await expect.poll(() => existsSync(at("alone-place")), { timeout: 60_000 }).toBe(false);
  expect(existsSync(at("shared-place"))).toBe(true);
  expect(existsSync(at("shared.users/own"))).toBe(false);
  expect(existsSync(at("locked-place"))).toBe(true);
  expect(existsSync(at("locked.users/own"))).toBe(true);
  // Its own locks are free again.
  await expect.poll(() => readdirSync(base).includes("alone"), { timeout: 60_000 }).toBe(false);
  expect(readdirSync(base)).not.toContain("shared");
});
