import type { TenantLimits } from "@agent/durable";
import { countOf } from "@agent/internal";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { print, printLine } from "../../process/output.js";
import { type EngineFlags, withEngine } from "./engine.js";
import { parseCount } from "./text.js";

export interface LimitFlags extends EngineFlags {
  readonly concurrency?: string;
  readonly modelCalls?: string;
  readonly json?: boolean;
}

/** `agent runs limit`: sets limits for all runs of a tenant together; without a number it prints the current ones. */
export async function limitCommand(tenant: string, flags: LimitFlags): Promise<ExitCode> {
  const concurrency = parseLimit(flags.concurrency, "--concurrency");
  const modelCallsPerMinute = parseLimit(flags.modelCalls, "--model-calls");
  return await withEngine(flags, async (engine) => {
    const before = await engine.getLimits(tenant);
    const limits = changed(before, { concurrency, modelCallsPerMinute });
    if (concurrency !== undefined || modelCallsPerMinute !== undefined) {
      await engine.setLimits(tenant, limits);
    }
    if (flags.json) print(`${JSON.stringify({ v: 1, tenant, limits })}\n`);
    else printLine(`${tenant}: ${describe(limits)}`);
    return EXIT.done;
  });
}

/** A number, `null` for no limit, `undefined` for no change. */
function parseLimit(text: string | undefined, flag: string): number | null | undefined {
  if (text === undefined) return undefined;
  return text === "none" ? null : parseCount(text, flag);
}

type Changes = { readonly [Key in keyof TenantLimits]: number | null | undefined };

function changed(before: TenantLimits, changes: Changes): TenantLimits {
  const limits: Record<string, number> = { ...before };
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete limits[name];
    else if (value !== undefined) limits[name] = value;
  }
  return limits;
}

function describe({ concurrency, modelCallsPerMinute }: TenantLimits): string {
  const parts = [
    concurrency === undefined ? undefined : `${countOf(concurrency, "run")} at a time`,
    modelCallsPerMinute === undefined ? undefined : `${countOf(modelCallsPerMinute, "model call")} a minute`,
  ].filter((part) => part !== undefined);
  return parts.length > 0 ? parts.join(", ") : "no limits";
}
