import { type MessagePort, parentPort } from "node:worker_threads";
import type { FromWorker, ScriptCall, ScriptEnd, ToWorker } from "./protocol.js";
import { Sandbox, type StripTypes } from "./sandbox.js";

async function loadStripper(): Promise<StripTypes> {
  const { transformSync } = await import("amaro");
  return (text) => transformSync(text, { mode: "strip-only" }).code;
}

/**
 * Makes instantiation synchronous in this thread. The asynchronous one of V8 waits for the optimization of functions
 * that an earlier script used, which takes 50 ms.
 */
function instantiateAtOnce(): void {
  const instantiate = async (module: WebAssembly.Module, imports?: object): Promise<WebAssembly.Instance> =>
    new WebAssembly.Instance(module, imports);
  Object.assign(WebAssembly, { instantiate });
}

/** Runs one script at a time, each in a new machine. */
function runScripts(port: MessagePort): void {
  instantiateAtOnce();
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
    const { wasm, script, limits } = message;
    const onCalls = (calls: readonly ScriptCall[]): void => {
      port.postMessage({ type: "calls", calls, output: "", more: true } satisfies FromWorker);
    };
    sandbox = await Sandbox.create(wasm, script, { limits, onCalls });
    report(await sandbox.start(script, loadStripper));
  });
}

if (parentPort === null) throw new Error("This file is the program of a thread.");
runScripts(parentPort);
