import { formatRule, parseRule } from "@agent/core/host";
import { errorMessage } from "@agent/core/toolkit";
import type { Approval, Decision } from "@agent/durable";
import { denial } from "@agent/terminal/host";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { print, printLine } from "../../process/output.js";
import { type EngineFlags, withEngine } from "./engine.js";
import { findRun, stateText } from "./text.js";

export interface DecideFlags extends EngineFlags {
  readonly call?: string;
  /** `true` for the tool, or a rule. */
  readonly always?: boolean | string;
  readonly deny?: string;
  readonly all?: boolean;
  readonly json?: boolean;
}

/** `agent runs approve`: decides about the pending call of a run. */
export async function decideCommand(start: string, flags: DecideFlags): Promise<ExitCode> {
  const decision = decisionOf(flags);
  return await withEngine(flags, async (engine) => {
    const run = await findRun(engine, start);
    const { id } = run;
    if (run.approvals.length === 0) {
      throw new CliError(`Run ${id} waits for no decision: it is ${stateText(run)}.`, EXIT.refused);
    }
    const calls = chosen(run.approvals, flags);
    for (const { key, name } of calls) {
      const isDecided = await engine.decide(id, key, decision);
      if (!isDecided) throw new CliError(`Someone else has decided about ${name} already.`, EXIT.refused);
      if (!flags.json)
        printLine(`${name}: ${typeof decision === "object" && "deny" in decision ? "denied" : "allowed"}`);
    }
    if (flags.json)
      print(`${JSON.stringify({ v: 1, id, decided: calls.map(({ key }) => key), decision })}\n`);
    return EXIT.done;
  });
}

function decisionOf({ always, deny }: DecideFlags): Decision {
  if (deny !== undefined && always)
    throw new CliError("--deny and --always contradict each other: give one.");
  if (deny !== undefined) return { deny: denial(deny) };
  if (typeof always === "string") return { always: ruleText(always) };
  return always ? "always" : "allow";
}

/** Throws unless the text is a rule. */
function ruleText(text: string): string {
  try {
    return formatRule(parseRule(text));
  } catch (error) {
    throw new CliError(errorMessage(error));
  }
}

function chosen(approvals: readonly Approval[], { call, all }: DecideFlags): readonly Approval[] {
  const [first, ...others] = approvals;
  if (call !== undefined) {
    const one = approvals.find(({ key }) => key === call);
    if (one) return [one];
    throw new CliError(
      `No call ${call} waits for a decision. Waiting: ${approvals.map(({ key }) => key).join(", ")}`,
    );
  }
  if (all || (first && others.length === 0)) return approvals;
  throw new CliError(
    `${approvals.length} calls wait for a decision: ${approvals.map(({ key, name }) => `${name} (--call ${key})`).join(", ")}. Choose one, or decide --all.`,
  );
}
