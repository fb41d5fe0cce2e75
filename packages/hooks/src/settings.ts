import { didYouMean, isRecord, quote } from "@agent/core/toolkit";

/** Events of Claude Code that exist here. */
const EVENTS = [
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "UserPromptSubmit",
  "SessionStart",
  "SessionEnd",
  "Stop",
  "PreCompact",
] as const;

export type EventName = (typeof EVENTS)[number];

/** Claude Code events without a counterpart here: their hooks are skipped, and the user is informed. */
const OTHER_EVENTS: readonly string[] = [
  "ConfigChange",
  "CwdChanged",
  "Elicitation",
  "ElicitationResult",
  "FileChanged",
  "InstructionsLoaded",
  "Notification",
  "PermissionDenied",
  "PermissionRequest",
  "PostCompact",
  "Setup",
  "StopFailure",
  "SubagentStart",
  "SubagentStop",
  "TaskCompleted",
  "TaskCreated",
  "TeammateIdle",
  "WorktreeCreate",
  "WorktreeRemove",
];

const HANDLER_FIELDS = ["type", "command", "timeout", "statusMessage"];
const DEFAULT_TIMEOUT_S = 60;
const LONGEST_TIMEOUT_S = 600;

/** One command of the settings. */
export interface Handler {
  readonly event: EventName;
  /** Whether the handler is for a tool, or for the source of a session, by one of its names. */
  readonly matches: (names: readonly string[]) => boolean;
  readonly command: string;
  readonly timeoutMs: number;
}

export interface ReadHooks {
  readonly handlers: readonly Handler[];
  /** What is skipped, one line each. */
  readonly leftOut: readonly string[];
}

/**
 * Parses the `hooks` block of Claude Code's settings. Throws for anything it does not understand that could be a check:
 * a silently missing hook would allow what it should refuse.
 */
export function readHooks(block: unknown, place: string): ReadHooks {
  if (!isRecord(block)) throw new Error(`${place}: "hooks" must be an object of events.`);
  const leftOut: string[] = [];
  const handlers = Object.entries(block).flatMap(([event, groups]) => {
    if (OTHER_EVENTS.includes(event)) {
      leftOut.push(`${place}: hooks for ${event} are left out: there is no such event here.`);
      return [];
    }
    if (!isEvent(event)) {
      const hint = didYouMean(event, EVENTS);
      throw new Error(`${place}: ${quote(event)} is not an event. ${hint}`);
    }
    if (!Array.isArray(groups)) throw new Error(`${place}: ${event} must be an array.`);
    return groups.flatMap((group: unknown, index) =>
      readGroup(group, event, `${place}: ${event}[${index}]`, leftOut),
    );
  });
  return { handlers, leftOut };
}

function isEvent(event: string): event is EventName {
  return (EVENTS as readonly string[]).includes(event);
}

function readGroup(group: unknown, event: EventName, place: string, leftOut: string[]): Handler[] {
  if (!isRecord(group) || !Array.isArray(group.hooks)) {
    throw new Error(`${place} must be an object with "hooks", an array.`);
  }
  const matches = readMatcher(group.matcher, place);
  return group.hooks.map((handler: unknown, index): Handler => {
    const at = `${place}.hooks[${index}]`;
    if (!isRecord(handler)) throw new Error(`${at} must be an object.`);
    const { type, command, timeout = DEFAULT_TIMEOUT_S } = handler;
    if (type !== "command") {
      throw new Error(`${at}: hooks of type ${quote(String(type))} do not run here, only commands.`);
    }
    if (typeof command !== "string" || command.trim() === "") {
      throw new Error(`${at}: "command" must be a command line.`);
    }
    if (typeof timeout !== "number" || !(timeout > 0)) {
      throw new Error(`${at}: "timeout" must be a number of seconds greater than 0.`);
    }
    const unknown = Object.keys(handler).filter((name) => !HANDLER_FIELDS.includes(name));
    if (unknown.length > 0) leftOut.push(`${at}: ${unknown.map(quote).join(", ")} has no effect here.`);
    return { event, matches, command, timeoutMs: Math.min(timeout, LONGEST_TIMEOUT_S) * 1000 };
  });
}

/** A matcher names tools (`Edit|Write`) or is a pattern for their whole names (`mcp__.*`). */
function readMatcher(matcher: unknown, place: string): Handler["matches"] {
  if (matcher === undefined || matcher === "" || matcher === "*") return () => true;
  if (typeof matcher !== "string") throw new Error(`${place}: "matcher" must be a string.`);
  let pattern: RegExp;
  try {
    pattern = new RegExp(`^(?:${matcher})$`, "u");
  } catch {
    throw new Error(`${place}: the matcher ${quote(matcher)} is not a regular expression.`);
  }
  return (names) => names.some((name) => pattern.test(name));
}
