import { homedir } from "node:os";
import type { BackgroundJob, BackgroundJobs } from "@agent/core";
import type { Mode } from "@agent/core/host";
import { escapeToLine } from "@agent/internal";
import { MODE_NAMES } from "../approval/mode.js";
import type { Style } from "../text/style.js";
import { styledWidth } from "../text/width.js";

/** The information in the row below the input line. */
export interface Status {
  readonly mode: Mode;
  readonly model: string;
  readonly directory: string;
  /** The share of the model's context that the conversation takes, where its size is known. */
  readonly contextShare?: number;
  readonly tokens: { readonly input: number; readonly cached: number; readonly output: number };
  /** How much the model thinks, if the user chose it. */
  readonly effort?: string | undefined;
  /** In dollars, where prices are known. */
  readonly cost?: number;
  /** The cost was computed with list prices. */
  readonly costIsEstimate?: boolean;
  /** How many commands run in the background. */
  readonly jobs: number;
}

/** The status as one row. If there is no room, the least important parts are left out. */
export function statusRow(status: Status, width: number, style: Style): string {
  const { mode, contextShare, tokens, cost, costIsEstimate = false, jobs } = status;
  const name =
    mode === "plan" ? style.cyan("plan") : mode === "auto" ? style.yellow("auto") : MODE_NAMES[mode];
  // In the order in which they are shown, each with how much it matters.
  const parts: [importance: number, text: string][] = [
    [9, `${name}${style.dim(" (shift+tab)")}`],
    [8, contextShare === undefined ? "" : shareText(contextShare, style)],
    [7, jobs === 0 ? "" : style.yellow(`${jobs} running (/status)`)],
    [5, style.dim(escapeToLine([status.model, status.effort ?? ""].join(" ").trim()))],
    [4, cost === undefined ? "" : style.dim(costText(cost, costIsEstimate))],
    [3, tokenText(tokens) === "" ? "" : style.dim(tokenText(tokens))],
    [2, style.dim(escapeToLine(shortDirectory(status.directory)))],
  ];
  const shown = parts.filter(([, text]) => text !== "");
  const join = (): string => `  ${shown.map(([, text]) => text).join(style.dim(" · "))}`;
  while (shown.length > 1 && styledWidth(join()) > width) {
    const least = Math.min(...shown.map(([importance]) => importance));
    shown.splice(
      shown.findIndex(([importance]) => importance === least),
      1,
    );
  }
  return join();
}

function shareText(share: number, style: Style): string {
  const text = `${Math.round(share * 100)}% context`;
  return share >= 0.8 ? style.yellow(text) : style.dim(text);
}

function tokenText({ input, cached, output }: Status["tokens"]): string {
  if (input + output === 0) return "";
  const saved = cached === 0 ? "" : ` (${short(cached)} cached)`;
  return `${short(input)} in${saved}, ${short(output)} out`;
}

function costText(cost: number, isEstimate: boolean): string {
  return `${isEstimate ? "≈" : ""}${cost < 0.01 ? "<$0.01" : `$${cost.toFixed(2)}`}`;
}

function short(count: number): string {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

function shortDirectory(directory: string): string {
  const home = homedir();
  return home !== "" && (directory === home || directory.startsWith(`${home}/`))
    ? `~${directory.slice(home.length)}`
    : directory;
}

/** The background work that has not ended. */
export function runningJobs(jobs: BackgroundJobs): readonly BackgroundJob[] {
  return jobs.list().filter(({ ended }) => ended === undefined);
}
