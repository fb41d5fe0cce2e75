import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { type MessagePort, parentPort } from "node:worker_threads";
import type { FromWorker, ScriptEnd, ToWorker } from "./protocol.js";
import { Sandbox, type StripTypes } from "./sandbox.js";

async function loadStripper(): Promise<StripTypes> {
  const { transformSync } = await import("amaro");
  return (text) => transformSync(text, { mode: "strip-only" }).code;
}

/** Runs one script at a time, each in a new machine. */
function runScripts(port: MessagePort): void {
  const wasm = readFile(createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm")).then((bytes) =>
    WebAssembly.compile(bytes),
  );
  let sandbox: Sandbox | undefined;

  function report(end: ScriptEnd | undefined): void {
    if (!sandbox) return;
    const output = sandbox.takeOutput();
    const message: FromWorker = end
      ? { type: "end", end, output }
      : { type: "calls", calls: sandbox.takeCalls(), output };
    if (end) sandbox = undefined;
    port.postMessage(message);
  }

  port.on("message", async (message: ToWorker) => {
    if (message.type === "answers") {
      report(sandbox?.answer(message.answers));
      return;
    }
    const { script, limits } = message;
    sandbox = await Sandbox.create(await wasm, script, limits);
    report(await sandbox.start(script, loadStripper));
  });
}

if (parentPort === null) throw new Error("This file is the program of a thread.");
runScripts(parentPort);
