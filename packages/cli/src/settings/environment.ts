import type { Effort } from "@agent/core";
import { EFFORTS, MODES, type Mode } from "@agent/core/host";
import { describeValue, didYouMean } from "@agent/internal";
import { CliError } from "../process/errors.js";
import type { AgentConfig } from "./config/types.js";
import type { ConfigLayer } from "./layers.js";
import { isProviderName, PROVIDER_NAMES } from "./providerCatalog.js";

type Environment = Readonly<Record<string, string | undefined>>;

const VARIABLES: Readonly<Record<string, (value: string, name: string) => AgentConfig>> = {
  AGENT_PROVIDER: (value, name) => ({ provider: providerName(value, name) }),
  AGENT_MODEL: (value) => ({ model: value }),
  AGENT_FALLBACK: (value) => ({ fallback: value }),
  AGENT_EFFORT: (value, name) => ({ effort: effortName(value, name) }),
  AGENT_MODE: (value, name) => ({ mode: modeName(value, name) }),
  AGENT_ENABLE: (value) => ({ enable: splitNames(value) }),
  AGENT_DISABLE: (value) => ({ disable: splitNames(value) }),
  AGENT_CONFIRM: (value) => ({ confirm: splitNames(value) }),
  AGENT_READ_ONLY: (value) => ({ readOnly: value !== "0" && value !== "false" }),
  AGENT_MAX_TURNS: (value, name) => ({ maxTurns: positiveNumber(value, name) }),
  AGENT_MAX_COST: (value, name) => ({ maxCost: positiveNumber(value, name) }),
  AGENT_MAX_TOKENS: (value, name) => ({ maxTokens: positiveNumber(value, name) }),
  AGENT_SMALL_MODEL: (value) => ({ smallModel: value }),
  AGENT_MAX_RETRIES: (value, name) => ({ maxRetries: countFromZero(value, name) }),
};

/** The layers of the environment, one for each variable that is set. */
export function environmentLayers(env: Environment = process.env): ConfigLayer[] {
  return Object.entries(VARIABLES).flatMap(([name, read]) => {
    const value = env[name];
    return value === undefined || value === "" ? [] : [{ origin: name, config: read(value, name) }];
  });
}

/** `a, b` or `a b` as a list. */
export function splitNames(value: string): string[] {
  return value.split(/[\s,]+/).filter((name) => name !== "");
}

/** A whole number of at least 0. */
export function countFromZero(value: string, name: string): number {
  const number = Number(value);
  if (value.trim() !== "" && Number.isInteger(number) && number >= 0) return number;
  throw new CliError(`${name} must be a whole number of at least 0, got "${value}".`);
}

/** Throws, naming the flag or variable, unless the text is a number greater than 0. */
export function positiveNumber(value: string, name: string): number {
  const number = Number(value);
  if (value.trim() !== "" && number > 0) return number;
  throw new CliError(`${name} must be a number greater than 0, got ${describeValue(value)}.`);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `90s`, `5m`, `5h` in milliseconds; a number alone is seconds. Throws, naming the flag, for anything else. */
export function timeSpan(value: string, name: string): number {
  const [, amount = "", unit = "s"] = value.match(/^(\d+(?:\.\d+)?)(ms|s|m|h)?$/) ?? [];
  const milliseconds = Number(amount) * (UNITS[unit] ?? Number.NaN);
  if (milliseconds > 0) return milliseconds;
  throw new CliError(`${name} must be a time such as 90s, 5m or 500ms, got "${value}".`);
}

/** Throws, naming the flag or variable, unless the text names a mode. */
export function modeName(value: string, name: string): Mode {
  const mode = MODES.find((one) => one === value);
  if (mode) return mode;
  throw new CliError(`${name} must be one of ${MODES.join(", ")}, got ${describeValue(value)}.`);
}

/** Throws, naming the flag or variable, unless the text names a reasoning effort. */
export function effortName(value: string, name: string): Effort {
  const effort = EFFORTS.find((one) => one === value);
  if (effort) return effort;
  throw new CliError(`${name} must be one of ${EFFORTS.join(", ")}, got ${describeValue(value)}.`);
}

/** Throws, naming the flag or variable, unless the text names a provider. */
export function providerName(value: string, name: string): string {
  if (isProviderName(value)) return value;
  throw new CliError(
    `${name} must name a provider, got ${describeValue(value)}. ${didYouMean(value, PROVIDER_NAMES)}`,
  );
}
