import type { Session } from "@agent/core";
import { splitMessage } from "@agent/terminal/host";
import { type ReadSession, readSessions, type SessionInfo } from "./sessions.js";

// In characters, around the first word that was found.
const AROUND = 60;

/** A session that contains all of the words, and where it contains the first one. */
export interface FoundSession extends SessionInfo {
  /** Text around a match, on one line. */
  readonly match: string;
}

/** The messages of the user and the model. Tool results are excluded: they would match almost anything. */
export function saidIn({ messages }: Session): string[] {
  return messages.flatMap((message) => {
    if (message.role === "user") return [splitMessage(message.content).text];
    return message.role === "assistant" && message.content ? [message.content] : [];
  });
}

/** The sessions of this directory whose messages, name or id contain all of the words; last used first. */
export async function searchSessions(cwd: string, words: readonly string[]): Promise<FoundSession[]> {
  const wanted = words.map((word) => word.toLowerCase()).filter((word) => word !== "");
  return (await readSessions(cwd)).flatMap((one) => matchOf(one, wanted) ?? []);
}

function matchOf({ info, session }: ReadSession, wanted: readonly string[]): FoundSession | undefined {
  const said = saidIn(session).map((text) => text.replace(/\s+/g, " "));
  const all = [info.name ?? "", info.id, ...said];
  const lower = all.map((text) => text.toLowerCase());
  if (!wanted.every((word) => lower.some((text) => text.includes(word)))) return undefined;
  // Prefer a message with all of the words.
  const best = lower.findIndex((text) => wanted.every((word) => text.includes(word)));
  const at = best === -1 ? lower.findIndex((text) => text.includes(wanted[0] ?? "")) : best;
  return { ...info, match: around(all[at] ?? "", lower[at]?.indexOf(wanted[0] ?? "") ?? 0) };
}

function around(text: string, at: number): string {
  const start = Math.max(0, at - AROUND);
  const end = at + AROUND;
  const part = text.slice(start, end).toWellFormed();
  return `${start > 0 ? "…" : ""}${part}${end < text.length ? "…" : ""}`;
}
