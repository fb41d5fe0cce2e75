import { COLOR_STYLE, MONOCHROME_STYLE, type Style } from "../text/style.js";

/** The part of a terminal's stream that is used for drawing. */
export interface TerminalOutput {
  readonly columns: number;
  readonly rows: number;
  readonly destroyed: boolean;
  write(text: string): boolean;
  // Not in Node's documentation; Node's own handler of the signal calls it.
  _refreshSize?(): void;
}

/**
 * Whether standard output is a terminal on which rows can be redrawn. Not with `TERM=dumb`, and not with a screen
 * reader, which needs text that never changes.
 */
export function isLiveTerminal(): boolean {
  const { TERM } = process.env;
  return process.stdout.isTTY === true && TERM !== undefined && TERM !== "dumb" && !hasScreenReader();
}

/** Whether `AGENT_SCREEN_READER` is set: then marks are replaced with words. */
export function hasScreenReader(): boolean {
  return !["", "0", "false"].includes(process.env.AGENT_SCREEN_READER ?? "");
}

/** Whether to use colour: unless `NO_COLOR` is set. */
export function terminalStyle(): Style {
  return (process.env.NO_COLOR ?? "") === "" ? COLOR_STYLE : MONOCHROME_STYLE;
}

/**
 * The size to draw for. A terminal that does not report its size gets a common one, and tiny sizes are raised to a
 * minimum.
 */
export function terminalSize({ columns, rows }: { readonly columns: number; readonly rows: number }): {
  readonly columns: number;
  readonly rows: number;
} {
  return { columns: Math.max(10, columns || 80), rows: Math.max(4, rows || 24) };
}

/**
 * Reads a terminal's size and emits `resize` if it has changed. Node does so on a signal, but a process that was
 * suspended runs its timers first, and a frame drawn for the old size erases rows above its own.
 */
export function refreshSize(output: TerminalOutput): void {
  if (!output.destroyed) output._refreshSize?.();
}
