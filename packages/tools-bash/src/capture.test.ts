import { readFileSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { leaveNoProcessBehind, runBash, runIntoTimeout } from "../test/processes.js";
import { Capture, MAX_STREAM_BYTES } from "./capture.js";
import type { RunBashResult } from "./result.js";

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
  test.each([50_000, 51_200])("A18: %d bytes are not cut", async (size) => {
    const result = await runBash({ command: `head -c ${size} /dev/zero | tr '\\0' x` });
    expect(result.stdout).toBe("x".repeat(size));
    expect(result.truncated).toBeUndefined();
  });

  test("A18: one byte more is cut, announced, and complete in the file", async () => {
    const result = await runBash({ command: "head -c 51201 /dev/zero | tr '\\0' x >&2" });
    const [text, notice] = result.stderr.split("\n");
    expect(text).toBe("x".repeat(51_200));
    expect(notice).toMatch(/truncated.* 51201 bytes/);
    const file = result.truncated?.stderr?.file ?? "";
    expect(result.truncated).toEqual({ stderr: { total_bytes: 51_201, file } });
    expect(notice).toContain(file);
    expect(readFileSync(file, "utf8")).toBe("x".repeat(51_201));
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  test("A18: the cut is on a character border", async () => {
    const result = await runBash({
      command: "i=0; while [ $i -lt 2000 ]; do printf €€€€€€€€€€; i=$((i+1)); done",
    });
    expect(result.stdout.split("\n")[0]).toBe("€".repeat(17_066));
    expect(result.truncated?.stdout?.total_bytes).toBe(60_000);
  });

  test("A22: 3 MB to both streams at once", async () => {
    const result = await runBash({
      command:
        "head -c 3000000 /dev/zero | tr '\\0' e >&2 & head -c 3000000 /dev/zero | tr '\\0' o; wait; exit 3",
    });
    expect(result.exit_code).toBe(3);
    expect(result.truncated?.stdout?.total_bytes).toBe(3_000_000);
    expect(result.truncated?.stderr?.total_bytes).toBe(3_000_000);
  });

  test("A39: the timeout notice comes after the cut and is whole", async () => {
    const command = "head -c 60000 /dev/zero | tr '\\0' e >&2; sleep 60";
    const hasPrinted = ({ truncated }: RunBashResult) => truncated?.stderr?.total_bytes === 60_000;
    const { result, timeout } = await runIntoTimeout({ command }, hasPrinted);
    const [shown, cut, notice, ...rest] = result.stderr.split("\n");
    expect(shown).toBe("e".repeat(51_200));
    expect(cut).toMatch(/^\[stderr truncated.*\]$/);
    expect(notice).toMatch(new RegExp(`^\\[timed out after ${timeout} ms.*\\]$`));
    expect(rest).toEqual([""]);
  });

  test("A7: 400 MB succeed with the real exit code in bounded memory", async () => {
    const work = runBash({ command: "head -c 400000000 /dev/zero; exit 0", timeout: 100_000 });
    const { value, grownMib } = await growthDuring(work);
    expect(value).toMatchObject({ exit_code: 0, timed_out: false });
    expect(value.truncated?.stdout?.total_bytes).toBe(400_000_000);
    expect(statSync(value.truncated?.stdout?.file ?? "").size).toBe(400_000_000);
    expect(grownMib).toBeLessThan(150);
  }, 120_000);

  test("A6: yes until the timeout is a timeout, in bounded memory and with a bounded file", async () => {
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

test("A9: characters split over writes stay whole", async () => {
  const result = await runBash({
    command: "printf '\\303'; sleep 0.1; printf '\\251'; printf '\\360\\237'; sleep 0.1; printf '\\230\\200'",
  });
  expect(result.stdout).toBe("é😀");
});

test("output that is no text is cut near the cap all the same", () => {
  const capture = new Capture("stdout");
  capture.write(Buffer.alloc(60_000, 0x80));
  expect(capture.finish().text.length).toBeGreaterThan(51_190);
});

test("a byte order mark at the start is part of the output", async () => {
  expect((await runBash({ command: "printf '\\357\\273\\277x'" })).stdout).toBe("\ufeffx");
});
