import type { Readable, Writable } from "node:stream";
import { type Mount, passGate } from "@agent/core/sandbox";
import { HELPER_ENVIRONMENT } from "@agent/core/toolkit";
import { FIRST_INPUT } from "../helpers/inputs.js";
import { probeProgram } from "../helpers/probe.js";
import type { CommandNetwork } from "./network/commandNetwork.js";

/** How to start bubblewrap with a gate: its `--info-fd` and `--block-fd` are the two that follow the inputs. */
interface GatedProgram {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly inputs?: readonly Uint8Array[];
  readonly mounts: readonly Mount[];
  readonly network?: CommandNetwork | undefined;
}

/** Runs bubblewrap to query it, like `probeProgram`. Rejects if its mounts are not the requested ones. */
export async function probeBehindGate(
  { argv: [program = "", ...args], env = HELPER_ENVIRONMENT, inputs = [], mounts, network }: GatedProgram,
  stream: "stdout" | "stderr",
): Promise<{ readonly code: number | null; readonly output: string }> {
  let passed: Promise<unknown> | undefined;
  const probe = await probeProgram(program, args, stream, {
    // A gate that closes with the agent: no watchdog tracks this process, and what it runs is harmless.
    ...{ inputs, env, network, detached: true, descriptors: ["pipe", "pipe"] },
    onStart: (child) => {
      const info = child.stdio[FIRST_INPUT + inputs.length] as Readable;
      const gate = child.stdio[FIRST_INPUT + inputs.length + 1] as Writable;
      // bubblewrap may have exited by itself.
      gate.on("error", () => undefined);
      passed = passGate({ info, open: () => void gate.end("x") }, mounts).catch((error: unknown) => {
        child.kill("SIGKILL");
        return error;
      });
    },
  });
  const outcome = await passed;
  if (outcome instanceof Error) throw outcome;
  return probe;
}
