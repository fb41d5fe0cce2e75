import type { AgentEvent, ChildEvent, FileDiff, ToolEndEvent, ToolKind, ToolStartEvent } from "@agent/core";
import { countOf, escapeToLine } from "@agent/internal";
import { formatDuration, shortCount } from "../text/amounts.js";
import { ChildCalls, type InnerCall, InnerCalls } from "./innerCalls.js";
import { LiveOutput } from "./liveOutput.js";
import {
  type BlockOptions,
  type FinishedCall,
  finishedLines,
  type NamedText,
  openLines,
} from "./toolBlock.js";

const TAIL_LINES = 4;
// In characters. A shorter title was not cut.
const LEAST_CUT = 100;
// A longer argument is kept up to here.
const LONGEST_TEXT = 20_000;

/** A call, from the model's request until it and all earlier ones have finished. */
interface TrackedCall {
  readonly id: string;
  readonly name: string;
  readonly live: LiveOutput;
  /** The call that made this one: a script. */
  readonly outer: TrackedCall | undefined;
  /** The child agents it has started, if any. */
  children?: ChildRows;
  /** The running calls that it has made, and the finished ones. */
  readonly nested: Set<TrackedCall>;
  inner?: InnerCalls;
  title: string;
  kind: ToolKind | undefined;
  /** Its arguments of several lines, such as a script or the task of an agent: the title has only their start. */
  texts: readonly NamedText[];
  /** The changes shown in the question about it. */
  previewed: readonly FileDiff[] | undefined;
  /** Whether it has asked the user what its title says. */
  isQuestion: boolean;
  /** When it started to run; absent until then. */
  startedAt: number | undefined;
  ended: ToolEndEvent | undefined;
}

/** The calls of a tool round, shown and released in the order the model requested them. */
export class OpenCalls {
  readonly #calls = new Map<string, TrackedCall>();
  /** The calls that those calls make, until they end. */
  readonly #nested = new Map<string, TrackedCall>();
  readonly #ofAgents = new ChildCalls();
  #asking: string | undefined;
  /** What a tool asks the user now. */
  #question: string | undefined;
  /** The call whose question was printed last. */
  #below: string | undefined;

  get size(): number {
    return this.#calls.size;
  }

  /** Whether one of them is running. */
  get isRunning(): boolean {
    return [...this.#calls.values()].some((call) => call.startedAt !== undefined && !call.ended);
  }

  has(id: string): boolean {
    return this.#find(id) !== undefined;
  }

  #find(id: string): TrackedCall | undefined {
    return this.#calls.get(id) ?? this.#nested.get(id);
  }

  /** `parent` is the id of the call that made it. */
  open(id: string, name: string, title: string, parent?: string): void {
    const outer = parent === undefined ? undefined : this.#find(parent);
    const call: TrackedCall = {
      id,
      name,
      title,
      kind: undefined,
      texts: [],
      live: new LiveOutput(),
      outer,
      nested: new Set(),
      previewed: undefined,
      isQuestion: false,
      startedAt: undefined,
      ended: undefined,
    };
    if (outer) {
      this.#nested.set(id, call);
      outer.nested.add(call);
    } else this.#calls.set(id, call);
  }

  start({ id, about, args }: Pick<ToolStartEvent, "id" | "about" | "args">, now: number): void {
    const call = this.#find(id);
    if (!call) return;
    if (about) call.title = escapeToLine(about.title);
    call.kind = about?.kind;
    call.texts = longTexts(args);
    call.startedAt = now;
    this.#findQuestion();
  }

  output(id: string, chunk: string): void {
    this.#find(id)?.live.push(chunk);
  }

  child(event: ChildEvent, now: number): void {
    const call = this.#find(event.id);
    if (!call) return;
    call.children ??= new ChildRows();
    call.children.event(event, now);
    const ended = this.#ofAgents.ended(event);
    if (!ended) return;
    const { agent, title } = ended;
    const isNamed = agent === undefined || call.name === agent || call.title.startsWith(`${agent}: `);
    const of = isNamed ? "" : `${agent}: `;
    record(call, { isOfAgent: true, title: escapeToLine(`${of}${title}`), event: ended.event });
  }

  /** The call that the user is being asked about, with the changes shown in the question, or none. */
  asking(id: string | undefined, previewed?: readonly FileDiff[]): void {
    this.#asking = id;
    if (id === undefined) {
      this.#question = undefined;
      return;
    }
    this.#below = id;
    const call = this.#find(id);
    if (call) call.previewed = previewed;
  }

  /** The user is being asked this: by the call whose title it is, if there is one. */
  questioning(text: string): void {
    this.#question = text;
    this.#findQuestion();
  }

  /**
   * A tool asks as soon as it runs: the event that it has started may come after its question. A question must not hide
   * a call that does something else, so its whole title must be the question.
   */
  #findQuestion(): void {
    const text = this.#question;
    if (text === undefined) return;
    const call = [...this.#calls.values()].find(
      ({ title, kind, ended }) => !ended && kind === "other" && isTitleOf(title, text),
    );
    if (!call) return;
    call.isQuestion = true;
    this.asking(call.id, []);
  }

  /** Something else was printed: the question is not right above its call any more. */
  leaveQuestion(): void {
    this.#below = undefined;
  }

  /** Records the end of a call and returns the finished calls up to the first one that is still running. */
  end(event: ToolEndEvent): FinishedCall[] {
    const nested = this.#nested.get(event.id);
    if (nested?.outer) {
      this.#nested.delete(event.id);
      nested.outer.nested.delete(nested);
      const { title, previewed } = nested;
      record(nested.outer, { isOfAgent: false, title, event, ...(previewed && { previewed }) });
      return [];
    }
    const call = this.#calls.get(event.id);
    if (!call) return [{ title: escapeToLine(event.about?.title ?? ""), event }];
    call.ended = event;
    const leaving: FinishedCall[] = [];
    for (const [id, one] of this.#calls) {
      if (!one.ended) break;
      this.#calls.delete(id);
      leaving.push(toFinished(one, one.ended, this.#below));
      this.#below = undefined;
    }
    return leaving;
  }

  /** Ends the turn: returns the finished calls, and the names and titles of the others. */
  clear(): { readonly ended: FinishedCall[]; readonly lost: { name: string; title: string }[] } {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    this.#nested.clear();
    return {
      ended: calls.flatMap((call) => (call.ended ? [toFinished(call, call.ended, this.#below)] : [])),
      lost: calls.filter((call) => !call.ended).map(({ name, title }) => ({ name, title })),
    };
  }

  /** The calls as rows, at most `maxRows`. */
  rows(options: BlockOptions, maxRows: number, now: number): string[] {
    if (this.#asking !== undefined) return this.#rowsBesideQuestion(options, maxRows, now);
    return this.#blockRows([...this.#calls.values()], options, maxRows, now);
  }

  /**
   * While a question is open, which shows its own call and needs the space, the calls waiting after it take one row.
   */
  #rowsBesideQuestion(options: BlockOptions, maxRows: number, now: number): string[] {
    const others = [...this.#calls].filter(([id]) => id !== this.#asking).map(([, call]) => call);
    const begun = others.filter(({ startedAt, ended }) => startedAt !== undefined || ended !== undefined);
    const waiting = others.length - begun.length;
    const notice = waiting === 0 ? [] : [options.style.dim(`… ${countOf(waiting, "more call")} waiting`)];
    return [...this.#blockRows(begun, options, Math.max(1, maxRows - notice.length), now), ...notice];
  }

  /** Whether the first call is drawn right below the question about it. */
  get isBelowQuestion(): boolean {
    const [first] = this.#calls.keys();
    return this.#below !== undefined && this.#asking === undefined && first === this.#below;
  }

  /** Each call as a block, shortened until all fit. */
  #blockRows(all: readonly TrackedCall[], options: BlockOptions, maxRows: number, now: number): string[] {
    // The question of a call is its whole display, unless the call fails.
    const calls = all.filter(({ isQuestion, ended }) => !isQuestion || (ended && ended.outcome !== "ok"));
    const below = this.isBelowQuestion ? this.#below : undefined;
    const render = (tailLines: number): string[][] =>
      calls.map((call) => {
        const { name, title, startedAt, live, children, ended } = call;
        if (ended) {
          return finishedLines(toFinished(call, ended, below), { ...options, maxLines: tailLines }).lines;
        }
        return openLines(
          {
            name,
            title,
            elapsedMs: startedAt === undefined ? undefined : now - startedAt,
            tail: [
              ...live.tail(tailLines, options.style.output),
              ...nestedRows(call, tailLines, options, now),
              ...(children?.rows(tailLines * 2, now) ?? []),
            ],
            isBelowQuestion: call.id === below,
          },
          options,
        );
      });
    for (const tailLines of [TAIL_LINES, 1, 0]) {
      const rows = render(tailLines).flat();
      if (rows.length <= maxRows) return rows;
    }
    const compact = render(0).map(([first = "", ...rest]) => [first, ...rest.slice(-1)]);
    if (compact.flat().length <= maxRows) return compact.flat();
    // If there is space for one row only, show the call's state rather than its title.
    if (compact.length === 1) return compact.flat().slice(-maxRows);
    const fitting = countFitting(compact, maxRows - 1);
    const more = options.style.dim(
      `… and ${countOf(calls.length - fitting, "more call")} (/status lists them)`,
    );
    return [...compact.slice(0, fitting).flat(), more];
  }
}

/** How many of the blocks, from the first, fit into so many rows. */
function countFitting(blocks: readonly (readonly string[])[], room: number): number {
  let used = 0;
  const first = blocks.findIndex(({ length }) => {
    used += length;
    return used > room;
  });
  return first === -1 ? blocks.length : first;
}

/** Whether a title is all of the text, on one line, or its start if it is longer than titles are. */
function isTitleOf(title: string, text: string): boolean {
  const isCut = title.endsWith("…") && title.length >= LEAST_CUT;
  return title !== "" && (isCut ? text.startsWith(title.slice(0, -1)) : text === title);
}

function longTexts(args: Readonly<Record<string, unknown>>): NamedText[] {
  return Object.entries(args).flatMap(([name, value]) =>
    typeof value === "string" && value.trim().includes("\n")
      ? [[name, value.slice(0, LONGEST_TEXT).toWellFormed()]]
      : [],
  );
}

function toFinished(
  { id, title, texts, live, inner, previewed, isQuestion }: TrackedCall,
  event: ToolEndEvent,
  below: string | undefined,
): FinishedCall {
  return {
    title,
    event,
    texts,
    live,
    ...(inner && { inner }),
    ...(previewed && { previewed }),
    isQuestion,
    isBelowQuestion: id === below,
  };
}

/** Keeps a call that `call`, or a child agent of it, has made. */
function record(call: TrackedCall, ended: Omit<InnerCall, "isRead">): void {
  // The model's own call has a block.
  if (call.outer) {
    record(call.outer, ended);
    return;
  }
  call.inner ??= new InnerCalls();
  call.inner.add(ended);
}

/** The newest calls that a call has made: finished ones, then the running ones with the last output of the newest one. */
function nestedRows(call: TrackedCall, maxRows: number, options: BlockOptions, now: number): string[] {
  const ended = maxRows < 2 ? [] : (call.inner?.all.slice(-maxRows / 2) ?? []);
  const running = [...call.nested];
  const newest = running.at(-1);
  const shown = running.slice(Math.max(0, running.length - maxRows));
  const more = running.length - shown.length;
  return [
    ...ended.map(({ title, event: { name, outcome } }) =>
      `${outcome === "ok" ? "✓" : "✗"} ${escapeToLine(name)}  ${title}`.trimEnd(),
    ),
    ...(more > 0 && maxRows > 0 ? [`… ${countOf(more, "more call")}`] : []),
    ...shown.flatMap((one) => {
      const state = one.startedAt === undefined ? "waiting" : formatDuration(now - one.startedAt);
      return [
        `${escapeToLine(one.name)}  ${one.title} · ${state}`,
        ...nestedRows(one, maxRows, options, now),
        ...(one.children?.rows(maxRows, now) ?? []),
      ];
    }),
    ...(newest?.live.tail(maxRows, options.style.output) ?? []),
  ];
}

interface ShownChild {
  readonly startedAt: number;
  label: string;
  /** Its current work, or that it is done. */
  current: string;
  tokens: number;
  endedAt: number | undefined;
}

/** The child agents of one call, one row each: its name, its current call, the time and the tokens. */
class ChildRows {
  readonly #children = new Map<number, ShownChild>();

  event({ child, label, event }: ChildEvent, now: number): void {
    const shown = this.#children.get(child) ?? {
      startedAt: now,
      label: label ?? `agent ${child + 1}`,
      current: "thinking",
      tokens: 0,
      endedAt: undefined,
    };
    this.#children.set(child, shown);
    follow(shown, event, now);
  }

  /** At most `maxRows` rows: the running children, then the finished ones. */
  rows(maxRows: number, now: number): string[] {
    const children = [...this.#children.values()].sort(
      (a, b) => Number(a.endedAt !== undefined) - Number(b.endedAt !== undefined),
    );
    const shown = children.length > maxRows ? children.slice(0, Math.max(0, maxRows - 1)) : children;
    const more = children.length - shown.length;
    return [
      ...shown.map((child) => rowOf(child, now)),
      ...(more > 0 && maxRows > 0 ? [`… and ${countOf(more, "more agent")}`] : []),
    ];
  }
}

function follow(shown: ShownChild, event: AgentEvent, now: number): void {
  switch (event.type) {
    case "tool_requested":
    case "tool_start": {
      const title = event.type === "tool_requested" ? event.title : event.about?.title;
      shown.current = `${event.name} ${title ?? ""}`.trim();
      break;
    }
    case "tool_end":
    case "text":
      shown.current = "thinking";
      break;
    case "notice":
      shown.current = event.text;
      break;
    case "usage":
      shown.tokens = event.total.inputTokens + event.total.outputTokens;
      break;
    case "child":
      if (event.event.type === "tool_requested") {
        shown.current = `${event.label ?? "agent"}: ${event.event.name} ${event.event.title ?? ""}`.trim();
      }
      break;
    case "done":
      shown.current = "done";
      shown.endedAt = now;
      break;
    default:
      break;
  }
}

function rowOf({ label, current, startedAt, endedAt, tokens }: ShownChild, now: number): string {
  const spent = tokens === 0 ? "" : ` · ${shortCount(tokens)} tokens`;
  const text = `${label}  ${current} · ${formatDuration((endedAt ?? now) - startedAt)}${spent}`;
  return escapeToLine(text);
}
