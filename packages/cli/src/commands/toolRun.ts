import type { JsonSchema, ToolRegistry } from "@agent/core";
import { errorMessage, escapeInvisible, isRecord, quote } from "@agent/core/toolkit";
import { describeValue, didYouMean, escapeToLine } from "@agent/internal";
import { withTools } from "../assembly/withTools.js";
import { parseArgument, typesOf } from "../offline/toolArguments.js";
import { noteRunning } from "../process/crash.js";
import { CliError } from "../process/errors.js";
import { EXIT, type ExitCode } from "../process/exitCodes.js";
import { columns, note, print, printLine } from "../process/output.js";
import { watchInterruption } from "../run/interruption.js";
import type { SettingsFlags } from "../settings/flags.js";
import { repeatedFlag } from "./options.js";

export interface ToolRunFlags extends SettingsFlags {
  readonly args?: string;
}

/**
 * `agent tool run NAME`: makes one call without a model. Prints its text on standard output; its outcome is the exit
 * code.
 */
export async function toolRunCommand(
  name: string,
  words: readonly string[],
  flags: ToolRunFlags,
): Promise<ExitCode> {
  return await withTools(flags, async ({ registry, reasons, problems }) => {
    for (const problem of problems) note(`agent: ${problem}`);
    if (!registry.hasTool(name)) throw new CliError(await unknownTool(name, registry));
    if (words.includes("--help") || words.includes("-h")) {
      print(toolHelp(name, registry));
      return EXIT.done;
    }
    if (!registry.isToolEnabled(name)) {
      note(`Tool not available: ${name}`);
      const off = `it is off (${reasons.get(name)}). Turn it on for this call: agent tool run --enable ${name} ${name} …`;
      note(`agent: ${registry.describeTool(name)?.withheld ?? off}`);
      return EXIT.refused;
    }
    const args = readArguments(words, flags.args, toolProperties(name, registry));
    return await callTool(registry, name, args);
  });
}

async function callTool(
  registry: ToolRegistry,
  name: string,
  args: Record<string, unknown>,
): Promise<ExitCode> {
  const interruption = watchInterruption(undefined);
  const finished = noteRunning(name);
  try {
    const call = await registry.prepare(name, args);
    // The user wrote this call, so everything it needs is granted.
    const result =
      "outcome" in call
        ? call
        : await call.run({ signal: interruption.signal, granted: (await call.describe()).needs });
    printLine(result.text);
    if (interruption.stop) return interruption.stop.exitCode;
    return result.outcome === "ok" ? EXIT.done : EXIT.tool;
  } finally {
    finished();
    interruption.release();
  }
}

/** Parses `--args '{…}'`, or `--key value`, `--key=value`, `--flag` and `--no-flag` by the tool's schema. */
function readArguments(
  words: readonly string[],
  json: string | undefined,
  properties: Readonly<Record<string, JsonSchema>>,
): Record<string, unknown> {
  const args: Record<string, unknown> = json === undefined ? {} : readJson(json);
  const queue = [...words];
  const given = new Set<string>();
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    const [, flag = "", , inline] = word.match(/^--([^=]+)(=([\s\S]*))?$/) ?? [];
    if (flag === "")
      throw new CliError(
        `${quote(word)} is not an argument of the tool. Write --key value, or --args '{ … }'.`,
      );
    const key =
      Object.keys(properties).find((name) => name === flag || name === flag.replaceAll("-", "_")) ?? flag;
    const schema = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const isBoolean = typesOf(schema).includes("boolean");
    const negated = Object.keys(properties).find(
      (name) => `no-${name}` === flag || `no_${name}` === flag.replaceAll("-", "_"),
    );
    if (!schema && negated !== undefined) {
      args[negated] = false;
      continue;
    }
    if (!schema) throw new CliError(unknownArgument(flag, Object.keys(properties)));
    if (isBoolean && inline === undefined && !/^(true|false)$/.test(queue[0] ?? "")) {
      if (given.has(key)) throw repeatedFlag(`--${flag}`);
      given.add(key);
      args[key] = true;
      continue;
    }
    const text = inline ?? queue.shift();
    if (text === undefined) throw new CliError(`--${flag} needs a value.`);
    const value = parseArgument(text, schema);
    // A list may be given one by one: --paths src --paths docs
    const earlier = args[key];
    const isList = Array.isArray(earlier) && Array.isArray(value);
    if (given.has(key) && !isList) throw repeatedFlag(`--${flag}`);
    given.add(key);
    args[key] = isList ? [...earlier, ...value] : value;
  }
  return args;
}

function readJson(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    if (isRecord(value)) return value;
    throw new Error(`it must be a JSON object, got ${describeValue(value)}`);
  } catch (error) {
    throw new CliError(`--args: ${errorMessage(error)}`);
  }
}

/** A tool of an MCP server may be missing because of its server: then the message says what is wrong with that. */
async function unknownTool(name: string, registry: ToolRegistry): Promise<string> {
  const server = /^mcp__(.+?)__/.exec(name)?.[1];
  const found = server === undefined ? [] : await registry.services.diagnose();
  const problems = found.filter(({ subject, ok }) => !ok && subject === `MCP server ${server}`);
  const reasons = problems.map(({ subject, detail, hint = "" }) =>
    `${subject}: ${detail.replace(/\.?$/, ".")} ${hint}`.trim(),
  );
  const hint = reasons.length > 0 ? reasons.join(" ") : didYouMean(name, registry.getToolNames());
  return `Tool not found: ${name}. ${hint}`;
}

function unknownArgument(flag: string, known: readonly string[]): string {
  const hint = didYouMean(flag, known, { show: (name) => `--${name}` });
  return `--${flag} is not an argument of the tool. ${hint}`;
}

/** `agent tool run NAME --help`: describes the tool and its arguments. */
function toolHelp(name: string, registry: ToolRegistry): string {
  const { description = "", parameters } = registry.describeTool(name) ?? {};
  const required = parameters?.required;
  const rows = Object.entries(toolProperties(name, registry)).map(([key, property]) => [
    `  --${key.replaceAll("_", "-")}`,
    typesOf(property).join(" or ") || "any",
    [
      Array.isArray(required) && required.includes(key) ? "required" : "",
      typeof property.description === "string" ? property.description : "",
      Array.isArray(property.enum) ? `One of: ${property.enum.map(String).join(", ")}.` : "",
      property.default === undefined ? "" : `Default: ${JSON.stringify(property.default)}.`,
    ]
      .filter((part) => part !== "")
      .join(". ")
      .replaceAll("..", "."),
  ]);
  const lines = [
    `Usage: agent tool run ${name} [--key value …] [--args JSON]\n`,
    escapeInvisible(description),
    "",
    "Arguments:",
  ];
  const list = rows.length === 0 ? "  none\n" : columns(rows.map((row) => row.map(escapeToLine)));
  return `${lines.join("\n")}\n${list}`;
}

/** The schemas of a tool's arguments, by name. */
function toolProperties(name: string, registry: ToolRegistry): Record<string, JsonSchema> {
  const properties = registry.describeTool(name)?.parameters?.properties;
  return isRecord(properties) ? (properties as Record<string, JsonSchema>) : {};
}
