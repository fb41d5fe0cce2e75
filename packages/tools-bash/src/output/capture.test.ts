import { readFileSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { leaveNoProcessBehind, runBash, runIntoTimeout } from "../../test/processes.js";
import type { RunBashResult } from "../command/result.js";
import { TemporaryFiles } from "../host/temporaryFiles.js";
import { Capture, MAX_STREAM_BYTES } from "./capture.js";
import { SpillStore } from "./spill.js";

leaveNoProcessBehind();
const MIB = 1024 * 1024;

/** The largest growth of this process while `work` runs. */
async function growthDuring<T>(work: Promise<T>): Promise<{ value: T; grownMib: number }> {
  global.gc?.();
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 20);
  const value = await work;
  clearInterval(timer);
  return { value, grownMib: (Math.max(most, process.memoryUsage.rss()) - before) / MIB };
}

describe("Scenario: Output truncation on large stdout or stderr", () => {
  test.each([50_000, 51_200])("does not cut %d bytes", async (size) => {
    const result = await runBash({ command: `head -c ${size} /dev/zero | tr '\\0' x` });
    expect(result.stdout).toBe("x".repeat(size));
    expect(result.truncated).toBeUndefined();
  });

  test("cuts one byte more, announces it, and keeps the file complete", async () => {
    const result = await runBash({ command: "head -c 51201 /dev/zero | tr '\\0' x >&2" });
    const [head = "", between = "", tail = "", notice] = result.stderr.split("\n");
    expect(head + tail).toMatch(/^x+$/);
    expect(between).toBe(`[… ${51_201 - head.length - tail.length} bytes left out here …]`);
    expect(Buffer.byteLength(`${head}\n${between}\n${tail}`)).toBeLessThanOrEqual(51_200);
    expect(head.length + tail.length).toBeGreaterThan(51_000);
    expect(notice).toMatch(/truncated.* 51201 bytes/);
    const file = result.truncated?.stderr?.file ?? "";
    expect(result.truncated).toEqual({ stderr: { total_bytes: 51_201, file } });
    expect(notice).toContain(file);
    expect(readFileSync(file, "utf8")).toBe("x".repeat(51_201));
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  test("cuts on a character border", async () => {
    const result = await runBash({
      command: "i=0; while [ $i -lt 2000 ]; do printf €€€€€€€€€€; i=$((i+1)); done",
    });
    const [head, between, tail] = result.stdout.split("\n");
    expect([head, tail].map((text) => text?.replaceAll("€", ""))).toEqual(["", ""]);
    expect(between).toMatch(/^\[… \d+ bytes left out here …\]$/);
    expect(result.truncated?.stdout?.total_bytes).toBe(60_000);
  });

  test("shows the error at the end of a long output, and whole lines", async () => {
    const result = await runBash({ command: "seq 1 100000; echo 'error: it failed'" });
    const lines = result.stdout.split("\n");
    expect(lines.slice(0, 3)).toEqual(["1", "2", "3"]);
    expect(lines.slice(-3, -1)).toEqual(["100000", "error: it failed"]);
    expect(lines.at(-1)).toMatch(/^\[stdout truncated: .* Complete output: /);
    const numbers = lines.filter((line) => /^\d+$/.test(line)).map(Number);
    const gaps = numbers.filter((number, index) => index > 0 && number !== (numbers[index - 1] ?? 0) + 1);
    expect(gaps).toHaveLength(1);
    expect(readFileSync(result.truncated?.stdout?.file ?? "", "utf8").split("\n")).toHaveLength(100_002);
  });

  test("handles 3 MB to both streams at the same time", async () => {
    const result = await runBash({
      command:
        "head -c 3000000 /dev/zero | tr '\\0' e >&2 & head -c 3000000 /dev/zero | tr '\\0' o; wait; exit 3",
    });
    expect(result.exit_code).toBe(3);
    expect(result.truncated?.stdout?.total_bytes).toBe(3_000_000);
    expect(result.truncated?.stderr?.total_bytes).toBe(3_000_000);
  });

  test("puts the timeout notice after the cut and keeps it whole", async () => {
    const command = "head -c 60000 /dev/zero | tr '\\0' e >&2; sleep 60";
    const hasPrinted = ({ truncated }: RunBashResult) => truncated?.stderr?.total_bytes === 60_000;
    const { result, timeout } = await runIntoTimeout({ command }, hasPrinted);
    const [, , , cut, notice, ...rest] = result.stderr.split("\n");
    expect(cut).toMatch(/^\[stderr truncated.*\]$/);
    expect(notice).toMatch(new RegExp(`^\\[timed out after ${timeout} ms.*\\]$`));
    expect(rest).toEqual([""]);
  });

  test("succeeds for 400 MB with the real exit code in bounded memory", async () => {
    const work = runBash({ command: "head -c 400000000 /dev/zero; exit 0", timeout: 100_000 });
    const { value, grownMib } = await growthDuring(work);
    expect(value).toMatchObject({ exit_code: 0, timed_out: false });
    expect(value.truncated?.stdout?.total_bytes).toBe(400_000_000);
    expect(statSync(value.truncated?.stdout?.file ?? "").size).toBe(400_000_000);
    expect(grownMib).toBeLessThan(150);
  }, 120_000);

  test("reports a timeout for yes until the timeout, in bounded memory and with a bounded file", async () => {
    const work = runIntoTimeout({ command: "yes" }, ({ truncated }) => truncated !== undefined);
    const { value: run, grownMib } = await growthDuring(work);
    const value = run.result;
    expect(value).toMatchObject({ exit_code: -1, timed_out: true });
    expect(value.stdout.startsWith("y\ny\n")).toBe(true);
    expect(value.stdout.length).toBeLessThan(MAX_STREAM_BYTES + 500);
    expect(statSync(value.truncated?.stdout?.file ?? "").size).toBeLessThanOrEqual(512 * MIB);
    expect(grownMib).toBeLessThan(150);
  });
});

test("keeps characters split over writes whole", async () => {
  const result = await runBash({
    command: "printf '\\303'; sleep 0.1; printf '\\251'; printf '\\360\\237'; sleep 0.1; printf '\\230\\200'",
  });
  expect(result.stdout).toBe("é😀");
});

test("cuts output that is not text near the cap all the same", () => {
  const capture = new Capture("stdout", new SpillStore(new TemporaryFiles()));
  capture.write(Buffer.alloc(60_000, 0x80));
  expect(capture.finish().text.length).toBeGreaterThan(51_190);
});

test("keeps a byte order mark at the start as part of the output", async () => {
  expect((await runBash({ command: "printf '\\357\\273\\277x'" })).stdout).toBe("\ufeffx");
});
