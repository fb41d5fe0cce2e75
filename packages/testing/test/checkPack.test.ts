import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { CHECKS, checkPack, inspectPack } from "../src/checkPack.js";
import { formatFinding, formatReport } from "../src/formatReport.js";
import { canFindLeftovers } from "../src/leftovers.js";
import { temporaryWorkspace } from "../src/temporaryWorkspace.js";
import { BAD_PACKS, writeBadPack } from "./badPacks.js";

const GOOD = new URL("./fixtures/good.mjs", import.meta.url);
const SAMPLES = {
  samples: { good_echo: { text: "sample" } },
  slowSamples: { good_sleep: { text: "sample" } },
};

describe("a good pack", () => {
  test("passes every check", async () => {
    const report = await checkPack(GOOD, SAMPLES);
    expect(formatReport(report)).toContain("All checks passed.");
    expect(report).toMatchObject({ pack: "good-pack", ok: true });
    expect(report.checks.map(({ id, status }) => [id, status])).toEqual(
      CHECKS.map(({ id }) => [id, "passed"]),
    );
    expect(report.tools.map(({ name, enabled }) => [name, enabled])).toEqual([
      ["good_echo", true],
      ["good_sleep", false],
    ]);
  });

  test("gets a report of what could not be checked without samples, without a failure", async () => {
    const report = await checkPack(GOOD);
    expect(report.ok).toBe(true);
    const open = report.checks.filter(({ status }) => status === "not_checked");
    expect(open.map(({ id }) => id)).toEqual(["output", "describes", "labels", "abort", "leftovers"]);
    expect(open[0]?.notes).toEqual(["good_echo: no sample", "good_sleep: no sample"]);
  });

  test("gets its options, and a fresh workspace for each run", async () => {
    const seen: string[] = [];
    const report = await checkPack(GOOD, {
      ...SAMPLES,
      options: { greeting: "hi" },
      setup: (workspace) => void seen.push(workspace),
    });
    expect(report.ok).toBe(true);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((workspace) => existsSync(workspace))).toEqual([]);
  });
});

test("passes every check with a pack of ten lines", async () => {
  const workspace = await temporaryWorkspace();
  onTestFinished(() => workspace.remove());
  const file = join(workspace.path, "clock.mjs");
  await writeFile(
    file,
    `import { definePack, defineTool } from ${JSON.stringify(import.meta.resolve("@agent/core"))};
     const now = defineTool({
       name: "clock_now",
       description: "The date and the time now.",
       input: { type: "object", properties: {}, additionalProperties: false },
       capabilities: ["read"],
       execute: () => "noon",
     });
     export const { packName, packApiVersion, register } = definePack({
       name: "agent-pack-clock",
       setup: () => ({ tools: [now] }),
     });`,
  );
  const report = await checkPack(file, { samples: { clock_now: {} } });
  expect(formatReport(report)).toContain("All checks passed.");
});

describe("a pack with more than tools", () => {
  const SERVICE = `
    import { spawn } from "node:child_process";
    import { once } from "node:events";
    import { existsSync, writeFileSync } from "node:fs";
    export const secrets = ["GOOD_PACK_TOKEN"];
    export { packName, packApiVersion } from ${JSON.stringify(GOOD.href)};
    export function register(registry, host) {
      packOptions("service-pack", host?.options, { late: { type: "string" }, writes: { type: "boolean" }, once: { type: "string" } });
      let server;
      registry.register(goodTool({
        name: "service_start",
        async execute() {
          if (host?.secrets?.GOOD_PACK_TOKEN !== "a-token-of-the-test") throw new Error("GOOD_PACK_TOKEN is not set.");
          server ??= spawn("sleep", ["600"], { stdio: "ignore", detached: true });
          server.unref();
          return "started";
        },
      }));
      registry.provide?.({
        async dispose() {
          if (!server) return;
          server.kill("SIGKILL");
          await once(server, "exit");
        },
      });
      registry.registerLater?.("the tools of the server", async (late) => {
        if (host?.options?.writes) writeFileSync("server.pid", "1");
        if (host?.options?.late) throw new Error(host.options.late);
        const { once } = host?.options ?? {};
        if (once && existsSync(once)) throw new Error("the server takes one connection");
        if (once) writeFileSync(once, "");
        late.register(goodTool({ name: "service_late" }));
      });
    }`;

  async function servicePack(): Promise<string> {
    const workspace = await temporaryWorkspace();
    onTestFinished(() => workspace.remove());
    return await writeBadPack(workspace.path, { check: "", because: "", source: SERVICE, says: /./ });
  }

  test("gets its secrets, its late tools are called, and dispose ends its processes", async () => {
    vi.stubEnv("GOOD_PACK_TOKEN", "a-token-of-the-test");
    onTestFinished(() => void vi.unstubAllEnvs());
    const samples = { service_start: { text: "x" }, service_late: { text: "later" } };
    const report = await checkPack(await servicePack(), { samples });
    expect(formatReport(report)).toContain("All checks passed.");
    expect(report.tools.map(({ name }) => name)).toEqual(["service_start", "service_late"]);
  });

  test("is not failed for a missing server, which is reported", async () => {
    const report = await checkPack(await servicePack(), { options: { late: "connection refused" } });
    expect(report.ok).toBe(true);
    expect(formatReport(report)).toContain("the tools of the server: connection refused");
  });

  test("may leave files from the source of its later tools", async () => {
    const report = await checkPack(await servicePack(), { options: { writes: true } });
    expect(report.ok).toBe(true);
    expect(report.tools.map(({ name }) => name)).toEqual(["service_start", "service_late"]);
  });

  test("is reported with the reason if a tool did not come to its call", async () => {
    const workspace = await temporaryWorkspace();
    onTestFinished(() => workspace.remove());
    const once = join(workspace.path, "loaded");
    const report = await checkPack(await servicePack(), {
      options: { once },
      samples: { service_late: { text: "x" } },
    });
    expect(formatReport(report)).toContain(
      "the pack registers no tool service_late; the tools of the server: the server takes one connection",
    );
  });

  test("starts nothing that comes later for a listing of its tools", async () => {
    const { tools } = await inspectPack(await servicePack());
    expect(tools.map(({ name }) => name)).toEqual(["service_start"]);
  });
});

describe("a bad pack fails exactly the check it breaks", () => {
  test.concurrent.for(BAD_PACKS)("$check: $because", async (bad, { expect, onTestFinished, skip }) => {
    if (bad.because.includes("detached process") && !canFindLeftovers) {
      skip("processes can be found on Linux only");
    }
    const workspace = await temporaryWorkspace();
    onTestFinished(() => workspace.remove());
    const report = await checkPack(await writeBadPack(workspace.path, bad), SAMPLES);
    const failed = report.checks.filter(({ status }) => status === "failed");
    expect(failed.map(({ id }) => id)).toEqual([bad.check]);
    expect(failed.flatMap(({ findings }) => findings.map(formatFinding)).join("\n")).toMatch(bad.says);
    expect(report.ok).toBe(false);
  });

  test("has a bad pack for every check", () => {
    expect([...new Set(BAD_PACKS.map(({ check }) => check))].sort()).toEqual(
      CHECKS.map(({ id }) => id).sort(),
    );
  });
});

test.each([
  ["ends the process when it is imported", "process.exit(0);"],
  ["ends the process when it registers", "export function register() { process.exit(0); }"],
  [
    "never finishes its import",
    "await new Promise((done) => setTimeout(done, 1e9)); export function register() {}",
  ],
])("suggests a fix that works for a pack that %s", async (_name, source) => {
  const workspace = await temporaryWorkspace();
  onTestFinished(() => workspace.remove());
  const file = join(workspace.path, "bad.mjs");
  await writeFile(file, source);
  const report = formatReport(await checkPack(file, { timeoutMs: 3000 }));
  expect(report).toMatch(
    /got: (the process ended with code 0|no result after 3000 ms)\n.*no process\.exit\(\)/,
  );
});

test("refuses an invalid location immediately", async () => {
  await expect(checkPack("")).rejects.toThrow("must be a path or a file: URL, got an empty string");
});

test("lists the tools with inspectPack, and explains why there are none", async () => {
  const { tools, problem } = await inspectPack(GOOD);
  expect([tools.length, problem]).toEqual([2, undefined]);
  const missing = await inspectPack("/is/not/there.mjs");
  expect(missing.tools).toEqual([]);
  expect(missing.problem).toContain("Cannot find module");
});
