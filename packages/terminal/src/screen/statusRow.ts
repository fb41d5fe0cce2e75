import { homedir } from "node:os";
import type { BackgroundJob, BackgroundJobs } from "@agent/core";
import type { Mode } from "@agent/core/host";
import { escapeToLine } from "@agent/internal";
import { MODE_NAMES } from "../approval/mode.js";
import { shortCount } from "../text/amounts.js";
import type { Style } from "../text/style.js";
import { cutToWidth, styledWidth } from "../text/width.js";

/** The parts of the row below the input line, in their default order. */
const STATUS_PARTS = [
  "mode",
  "context",
  "jobs",
  "model",
  "effort",
  "cost",
  "branch",
  "session",
  "tokens",
  "directory",
] as const;

export type StatusPart = (typeof STATUS_PARTS)[number];

/** The information in the row below the input line. */
export interface Status {
  readonly mode: Mode;
  readonly model: string;
  readonly directory: string;
  /** The tokens of the conversation, if a request has reported them. */
  readonly contextSize?: number;
  /** The size of the model's context, if known. */
  readonly contextTokens?: number;
  readonly tokens: { readonly input: number; readonly cached: number; readonly output: number };
  /** The reasoning effort, if the user chose it. */
  readonly effort?: string | undefined;
  /** In dollars, if prices are known. */
  readonly cost?: number;
  /** The cost was computed with list prices. */
  readonly costIsEstimate?: boolean;
  /** How many commands run in the background. */
  readonly jobs: number;
  /** The git branch of the working directory. */
  readonly branch?: string | undefined;
  /** The name of the session, if it has one. */
  readonly session?: string | undefined;
}

/** The content of the row: which parts in which order, or a text instead. The mode is always shown. */
export interface StatusLook {
  readonly parts?: readonly StatusPart[];
  readonly text?: string | undefined;
}

const IMPORTANCE: Readonly<Record<StatusPart, number>> = {
  mode: 9,
  context: 8,
  jobs: 7,
  model: 6,
  effort: 5,
  cost: 5,
  branch: 4,
  session: 3,
  directory: 2,
  tokens: 1,
};
// In columns. A longer branch or session name is truncated.
const LONGEST_NAME = 30;

/** The status as one row. If there is no space, the least important parts are omitted. `modeKey` switches the mode. */
export function statusRow(
  status: Status,
  width: number,
  style: Style,
  look: StatusLook = {},
  modeKey?: string,
): string {
  const { parts = STATUS_PARTS, text } = look;
  const { mode, tokens, cost, costIsEstimate = false, jobs, effort } = status;
  const name =
    mode === "plan" ? style.cyan("plan") : mode === "auto" ? style.yellow("auto") : MODE_NAMES[mode];
  const texts: Readonly<Record<StatusPart, string>> = {
    mode: name,
    context: contextText(status, style),
    jobs: jobs === 0 ? "" : style.yellow(`${jobs} running (/status)`),
    model: style.dim(escapeToLine(status.model)),
    effort: style.dim(effort === undefined ? "" : `${escapeToLine(effort)} effort`),
    cost: style.dim(cost === undefined ? "" : costText(cost, costIsEstimate)),
    branch: style.dim(cutToWidth(escapeToLine(status.branch ?? ""), LONGEST_NAME)),
    session: style.dim(cutToWidth(escapeToLine(status.session ?? ""), LONGEST_NAME)),
    tokens: style.dim(tokenText(tokens)),
    directory: style.dim(escapeToLine(shortDirectory(status.directory))),
  };
  let hint = modeKey === undefined ? "" : ` (${modeKey})`;
  const shown: { readonly importance: number; readonly text: string }[] = [];
  for (const part of text === undefined
    ? [...new Set<StatusPart>(["mode", ...parts])]
    : (["mode"] as const)) {
    if (texts[part] !== "") shown.push({ importance: IMPORTANCE[part], text: texts[part] });
  }
  if (text !== undefined && text !== "") shown.push({ importance: IMPORTANCE.context, text });
  const textOf = (part: (typeof shown)[number]): string =>
    part.importance === IMPORTANCE.mode ? part.text + style.dim(hint) : part.text;
  const join = (): string => `  ${shown.map(textOf).join(style.dim(" · "))}`;
  while (text === undefined && shown.length > 1 && styledWidth(join()) > width) {
    const least = Math.min(...shown.map(({ importance }) => importance));
    // The context and running jobs are worth more than how to change the mode.
    if (hint !== "" && least > IMPORTANCE.model) hint = "";
    else {
      shown.splice(
        shown.findIndex(({ importance }) => importance === least),
        1,
      );
    }
  }
  return join();
}

function contextText({ contextSize = 0, contextTokens }: Status, style: Style): string {
  if (contextSize === 0) return "";
  if (contextTokens === undefined) return style.dim(`${shortCount(contextSize)} context`);
  const share = contextSize / contextTokens;
  const text = `${Math.round(share * 100)}% context (${shortCount(contextSize)})`;
  return share >= 0.8 ? style.yellow(text) : style.dim(text);
}

function tokenText({ input, cached, output }: Status["tokens"]): string {
  if (input + output === 0) return "";
  const saved = cached === 0 ? "" : ` (${shortCount(cached)} cached)`;
  return `${shortCount(input)} in${saved}, ${shortCount(output)} out`;
}

function costText(cost: number, isEstimate: boolean): string {
  return `${isEstimate ? "≈" : ""}${cost < 0.01 ? "<$0.01" : `$${cost.toFixed(2)}`}`;
}

/** With `~` for the home directory. */
export function shortDirectory(directory: string): string {
  const home = homedir();
  return home !== "" && (directory === home || directory.startsWith(`${home}/`))
    ? `~${directory.slice(home.length)}`
    : directory;
}

/** The background work that is still running. */
export function runningJobs(jobs: BackgroundJobs): readonly BackgroundJob[] {
  return jobs.list().filter(({ ended }) => ended === undefined);
}
