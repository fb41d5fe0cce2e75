import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { terminateOnSignals } from "./terminateOnSignals.js";

const CORE = fileURLToPath(new URL("../../dist/host.js", import.meta.url));

/** Runs a program that waits, sends it a signal, and says what it printed and how it ended. */
async function endBySignal(setUp: string, signal: NodeJS.Signals) {
  const code = `
    const { terminateOnSignals } = await import(${JSON.stringify(CORE)});
    const { writeSync } = await import("node:fs");
    const terminable = (name) => ({ terminate: () => writeSync(1, name + "\\n") });
    ${setUp}
    setInterval(() => {}, 1000);
    writeSync(1, "ready\\n");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if (text.includes("ready")) child.kill(signal);
  });
  const [exitCode, endedBy] = await once(child, "close");
  return { output, exitCode, endedBy };
}

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "stops on %s what every registry started, and then the process",
  async (signal) => {
    const setUp = 'terminateOnSignals(terminable("one")); terminateOnSignals(terminable("two"));';
    expect(await endBySignal(setUp, signal)).toEqual({
      output: "ready\none\ntwo\n",
      exitCode: null,
      endedBy: signal,
    });
  },
);

test("lets a program that handles the signal itself decide what happens", async () => {
  const setUp = 'terminateOnSignals(terminable("one")); process.on("SIGTERM", () => process.exit(7));';
  expect(await endBySignal(setUp, "SIGTERM")).toEqual({ output: "ready\n", exitCode: 7, endedBy: null });
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "stops every registry on %s, sends the signal again once, and leaves it to a handler of the program",
  (signal) => {
    const others = process.rawListeners(signal) as (() => void)[];
    process.removeAllListeners(signal);
    const kill = vi.spyOn(process, "kill").mockReturnValue(true);
    onTestFinished(() => {
      kill.mockRestore();
      process.removeAllListeners(signal);
      for (const other of others) process.on(signal, other);
    });
    const stopped: string[] = [];
    for (const name of ["one", "two"]) terminateOnSignals({ terminate: () => stopped.push(name) });
    process.emit(signal, signal);
    expect(stopped).toEqual(["one", "two"]);
    expect(kill.mock.calls).toEqual([[process.pid, signal]]);
    expect(process.listenerCount(signal)).toBe(0);
    process.on(signal, () => undefined);
    terminateOnSignals({ terminate: () => stopped.push("three") });
    process.emit(signal, signal);
    expect(stopped).toEqual(["one", "two"]);
    expect(kill).toHaveBeenCalledTimes(1);
  },
);

test("leaves no handler after its release", () => {
  const before = process.listenerCount("SIGTERM");
  const release = terminateOnSignals({ terminate: () => undefined });
  expect(process.listenerCount("SIGTERM")).toBe(before + 1);
  release();
  expect(process.listenerCount("SIGTERM")).toBe(before);
});

test("refuses immediately something that cannot be terminated", () => {
  expect(() => terminateOnSignals({} as never)).toThrow("services.terminate");
});
