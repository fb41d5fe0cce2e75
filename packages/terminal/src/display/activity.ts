import type { AgentEvent, FileDiff, ToolDraftEvent, ToolRequestedEvent } from "@agent/core";
import { draftTitle } from "@agent/core/toolkit";
import { escapeToLine } from "@agent/internal";
import { formatDuration } from "../text/amounts.js";
import { safeProse } from "../text/safeText.js";
import type { Style } from "../text/style.js";
import { cutToWidth, wrapWords } from "../text/width.js";
import { AnswerStream } from "./answerStream.js";
import { ExpandStore } from "./expandStore.js";
import {
  contextText,
  cutOffText,
  noticeText,
  progressText,
  reasonText,
  retryText,
  usageText,
} from "./notices.js";
import { OpenCalls } from "./openCalls.js";
import { type BlockOptions, type FinishedCall, finishedLines } from "./toolBlock.js";

const LONGEST_DRAFT = 16 * 1024;
const LONGEST_SUBJECT = 200;
const LONGEST_REASONING = 64 * 1024;
// Of the wrapped rows of a note.
const NOTE_INDENT = 2;

export interface ActivityOptions {
  readonly style: Style;
  readonly now: () => number;
  /** How a user expands truncated text: `ctrl+o expands`. Absent if it cannot be expanded. */
  readonly expandHint?: string;
}

/** What is shown at one moment. */
export interface ActivityFrame {
  /** Rows that are moved to the scrollback and never redrawn. */
  readonly above: readonly string[];
  readonly rows: readonly string[];
  /** How many of the rows, from the first, are the answer being written; 0 unless the rows contain all of it. */
  readonly answerRows: number;
}

/**
 * Renders agent events as frames of lines, independent of a terminal. Finished work is printed with the next frame and
 * dropped, so that memory does not grow with the session.
 */
export class Activity {
  /** How a user expands truncated text. It changes with the key bindings. */
  expandHint: string | undefined;
  readonly #options: ActivityOptions;
  #answer: AnswerStream;
  /** The answer in the last frame. It may have ended since. */
  #shownAnswer: AnswerStream | undefined;
  readonly #calls = new OpenCalls();
  readonly #expand = new ExpandStore();
  readonly #drafts = new Map<number, CallDraft>();
  #reasoning: Reasoning | undefined;
  /** Why the last request failed, until the model answers. */
  #retried: string | undefined;
  #retryAt: { readonly at: number; readonly attempt: number; readonly reason: string } | undefined;
  readonly #sections = new Sections();

  constructor(options: ActivityOptions) {
    this.#options = options;
    this.expandHint = options.expandHint;
    this.#answer = new AnswerStream(options.style);
  }

  /** The current work in a few words, safe to display. */
  get doing(): string {
    const now = this.#options.now();
    if (this.#retryAt && this.#retryAt.at > now) {
      const { reason, attempt, at } = this.#retryAt;
      const seconds = Math.ceil((at - now) / 1000);
      const time = seconds < 60 ? `${seconds}s` : formatDuration(seconds * 1000);
      return `attempt ${attempt + 1} in ${time} (${reasonText(reason)})`;
    }
    const draft = [...this.#drafts.values()].at(-1);
    if (draft) return `writing ${draft.text}`;
    if (this.#calls.size > 0) return "working";
    return this.writing ? "answering" : "thinking";
  }

  /** Whether a time is shown already: of a running call, or until the next attempt. */
  get showsTime(): boolean {
    return this.#calls.isRunning || (this.#retryAt !== undefined && this.#retryAt.at > this.#options.now());
  }

  get writing(): boolean {
    return this.#answer.hasBegun;
  }

  event(event: AgentEvent): void {
    if (event.type !== "retry") {
      this.#retryAt = undefined;
      this.#retried = undefined;
    }
    if (event.type !== "reasoning" && event.type !== "usage") this.#endReasoning();
    switch (event.type) {
      case "text":
        if (!this.#answer.hasBegun) this.#sections.begin("answer");
        this.#sections.touched();
        this.#answer.add(event.whole ?? event.text);
        return;
      case "reasoning":
        this.#reasoning ??= new Reasoning(this.#options.now());
        this.#reasoning.add(event.text);
        return;
      case "tool_draft": {
        const draft = this.#drafts.get(event.index) ?? new CallDraft(event);
        draft.add(event.delta);
        this.#drafts.set(event.index, draft);
        return;
      }
      case "tool_requested":
        this.#open(event, event.title);
        return;
      case "tool_start":
        if (!this.#calls.has(event.id)) this.#open(event, event.about?.title);
        this.#calls.start(event, this.#options.now());
        return;
      case "tool_output":
        this.#calls.output(event.id, event.chunk);
        return;
      case "tool_end":
        for (const call of this.#calls.end(event)) this.#finishCall(call);
        return;
      case "retry":
        this.#drafts.clear();
        this.#retryAt = {
          at: this.#options.now() + event.delayMs,
          attempt: event.attempt,
          reason: event.reason,
        };
        // The same failure again is in the row of the work that runs.
        if (this.#answer.hasLeft || this.#retried !== event.reason)
          this.note(retryText(event, this.#answer.hasLeft));
        this.#retried = event.reason;
        this.#answer = new AnswerStream(this.#options.style);
        return;
      case "context":
        this.note(contextText(event));
        return;
      case "notice":
        this.note(noticeText(event));
        return;
      case "tool_progress":
        this.#calls.output(event.id, `${progressText(event)}\n`);
        return;
      case "done":
        this.#finishAnswer();
        for (const text of [cutOffText(event), usageText(event)]) if (text !== undefined) this.note(text);
        return;
      case "child":
        this.#calls.child(event, this.#options.now());
        return;
      case "tool_process":
      case "steered":
      case "usage":
        return;
      default:
        event satisfies never;
    }
  }

  /**
   * Prints the question about a call, with the changes it shows. The call is drawn right below it, without its name and
   * title, unless something else is printed in between.
   */
  ask(id: string, lines: readonly string[], previewed: readonly FileDiff[] = []): void {
    this.print(lines);
    this.#calls.asking(id, previewed);
  }

  /** Prints a question of the model. The call whose title it is says nothing more than the question and its answer. */
  question(text: string, lines: readonly string[]): void {
    this.print(lines);
    this.#calls.questioning(escapeToLine(text.replace(/\s+/g, " ").trim()));
  }

  /** Called when a question about a call was asked and answered elsewhere; the call is drawn right below it. */
  asked(id: string, previewed: readonly FileDiff[] = []): void {
    this.#calls.asking(id, previewed);
    this.#calls.asking(undefined);
  }

  /** Called when the question was answered: prints the answer below it, if there is one. */
  answered(text?: string): void {
    this.#calls.asking(undefined);
    if (text !== undefined) this.#addNote(text);
  }

  /**
   * Adds lines of the chat itself, in order with the events. They must be safe to display. Wrapped rows of a long line
   * begin at `indent`, or where the text of the line begins.
   */
  print(lines: readonly string[], indent?: number): void {
    this.#calls.leaveQuestion();
    this.#sections.begin("chat");
    // An answer being written continues below these lines; it is not split in the middle of a line.
    this.#sections.add(({ width }) => {
      const rows = lines.flatMap((line) => wrapWords(line, width, indent ?? indentOf(line)));
      return this.writing ? [...rows, ""] : rows;
    });
  }

  /** Adds a line about what was just shown. */
  note(text: string): void {
    this.#calls.leaveQuestion();
    this.#addNote(text);
  }

  #addNote(text: string): void {
    this.#sections.addBelow(({ width }) => wrapWords(this.#options.style.dim(text), width, NOTE_INDENT));
  }

  /** Ends the turn: nothing on the screen looks as if it were still running. */
  end(): void {
    this.#endReasoning();
    this.#drafts.clear();
    this.#retryAt = undefined;
    this.#retried = undefined;
    this.#finishAnswer();
    const { ended, lost } = this.#calls.clear();
    for (const call of ended) this.#finishCall(call);
    for (const { name, title } of lost) this.note(`● ${escapeToLine(name)}  ${title}  ✗ no result`);
  }

  /** The labels of truncated items that can be expanded, newest first. */
  get expandable(): readonly string[] {
    return this.#expand.labels;
  }

  /** Prints one of the expandable items in full, by its index; without an index the newest, then the one before it. */
  expand(place?: number): boolean {
    const lines = place === undefined ? this.#expand.next() : this.#expand.at(place);
    if (!lines) return false;
    this.#sections.begin("chat");
    this.#sections.add(lines);
    return true;
  }

  /** Called when the terminal is resized: the shown part of the answer stays, and the answer continues below it. */
  keepShown(): void {
    this.#shownAnswer?.keepShown();
  }

  frame(width: number, maxRows: number): ActivityFrame {
    const { expandHint } = this;
    const { style } = this.#options;
    const options: BlockOptions = { style, width, ...(expandHint !== undefined && { expandHint }) };
    const finished = this.#sections.take(options);
    // Lines that arrived while calls run, such as a question, end with a blank row, as after the calls.
    const gap = this.#calls.isBelowQuestion ? [] : this.#sections.gapBefore("calls");
    const room = Math.max(1, maxRows - gap.length);
    const blocks = this.#calls.size > 0 ? this.#calls.rows(options, room, this.#options.now()) : [];
    const last = [...(blocks.length > 0 ? gap : []), ...blocks, ...this.#reasoningRows(width)];
    const answer = this.#answer.frame(width, Math.max(1, maxRows - last.length));
    this.#shownAnswer = this.#answer;
    return {
      above: finished.length === 0 ? answer.above : finished.concat(answer.above),
      rows: [...answer.rows, ...last],
      answerRows: answer.isWhole ? answer.rows.length : 0,
    };
  }

  #open({ id, name, parent }: Pick<ToolRequestedEvent, "id" | "name" | "parent">, title = ""): void {
    this.#drafts.clear();
    this.#finishAnswer();
    this.#sections.begin("calls");
    this.#calls.open(id, name, escapeToLine(title), parent);
  }

  #finishCall(call: FinishedCall): void {
    // The question and its answer are all there is to see.
    if (call.isQuestion && call.event.outcome === "ok") return;
    if (call.isBelowQuestion) this.#sections.continueBelow("calls");
    else this.#sections.begin("calls");
    this.#sections.add((options) => this.#callLines(call, options));
  }

  #callLines(call: FinishedCall, options: BlockOptions): string[] {
    const { lines, expandable } = finishedLines(call, options);
    if (expandable) this.#expand.add(call);
    return lines;
  }

  #reasoningRows(width: number): string[] {
    return this.#reasoning ? [this.#options.style.dim(this.#reasoning.row(width))] : [];
  }

  #endReasoning(): void {
    const reasoning = this.#reasoning;
    this.#reasoning = undefined;
    if (!reasoning) return;
    const { lines } = reasoning;
    if (lines.length === 0) return;
    const time = formatDuration(this.#options.now() - reasoning.startedAt);
    const { expandHint } = this;
    const { style } = this.#options;
    const hint = expandHint === undefined ? "" : ` (${expandHint})`;
    this.#expand.addText(`Thought for ${time}`, lines);
    this.#sections.begin("calls");
    this.#sections.add(({ width }) => wrapWords(style.dim(`∴ thought for ${time}${hint}`), width));
  }

  #finishAnswer(): void {
    if (!this.#answer.hasBegun) return;
    const answer = this.#answer;
    this.#answer = new AnswerStream(this.#options.style);
    this.#sections.add(({ width }) => answer.finish(width));
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the styles of a mark
const LINE_START = /^(?:\x1b\[[0-9;]*m)*( *)(?:[●›]\S* )?/;

/** The column in which the text of a line begins: after its blanks and after the mark of a call or of the user. */
function indentOf(line: string): number {
  const [start = "", blanks = ""] = LINE_START.exec(line) ?? [];
  return blanks.length + (/[●›]/.test(start) ? 2 : 0);
}

/** A tool call while the model writes it: its name, its title as soon as it can be parsed, and its size. */
class CallDraft {
  readonly #name: string;
  readonly #titleFrom: readonly string[];
  #start = "";
  #size = 0;

  constructor({ name, titleFrom = [] }: ToolDraftEvent) {
    this.#name = name;
    this.#titleFrom = titleFrom;
  }

  add(delta: string): void {
    this.#size += delta.length;
    if (this.#start.length < LONGEST_DRAFT) this.#start += delta;
  }

  /** `write_file src/a.ts (2.1 KB)`, safe to display. */
  get text(): string {
    const title = draftTitle(this.#titleFrom, this.#start).slice(0, LONGEST_SUBJECT);
    const size = this.#size < 1024 ? "" : ` (${(this.#size / 1024).toFixed(1)} KB)`;
    return `${escapeToLine(`${this.#name} ${title}`.trim())}${size}`;
  }
}

/** The model's reasoning while it is written. */
class Reasoning {
  readonly startedAt: number;
  #text = "";

  constructor(startedAt: number) {
    this.startedAt = startedAt;
  }

  add(text: string): void {
    if (this.#text.length < LONGEST_REASONING) this.#text += text;
  }

  /** All of it, safe to display; empty if it is blank. */
  get lines(): string[] {
    const text = this.#text.trim();
    return text === "" ? [] : safeProse(text).split("\n");
  }

  /** Its end, on one row. */
  row(width: number): string {
    const line = this.#text.trimEnd().split("\n").at(-1) ?? "";
    const room = Math.max(10, width - 4);
    return cutToWidth(`∴ ${safeProse(line.slice(-room)).replaceAll("\t", " ")}`, width);
  }
}

/** The kinds of parts of a conversation; a blank line separates two of different kinds. */
type Section = "answer" | "calls" | "chat";

/** Finished parts of a conversation, in order, until they are printed with the current width. */
class Sections {
  #waiting: ((options: BlockOptions) => string[])[] = [];
  #last: Section | undefined;
  #afterBlank = false;

  /**
   * Starts a section, preceded by a blank line unless the last part was of the same kind. The chat's own sections
   * always have one.
   */
  begin(section: Section): void {
    const starts = section === "chat" || this.#last !== section;
    if (starts && !this.#afterBlank) this.#waiting.push(() => [""]);
    this.#afterBlank ||= starts;
    this.#last = section;
  }

  /** Starts a section right below the last printed one. */
  continueBelow(section: Section): void {
    this.#last = section;
  }

  /** Adds a part to the section. */
  add(render: (options: BlockOptions) => string[]): void {
    this.#waiting.push(render);
    this.#afterBlank = false;
  }

  /** Adds a part that belongs to the one above it. The next section starts with a blank line. */
  addBelow(render: (options: BlockOptions) => string[]): void {
    this.#last = undefined;
    this.add(render);
  }

  /** Called when text is written that is not a part yet: the next section starts with a blank line. */
  touched(): void {
    this.#afterBlank = false;
  }

  /** The blank row before rows of this kind that are not a part yet. */
  gapBefore(section: Section): string[] {
    return this.#last === section || this.#afterBlank ? [] : [""];
  }

  /** Takes the rows of all waiting parts. */
  take(options: BlockOptions): string[] {
    return this.#waiting.splice(0).flatMap((render) => render(options));
  }
}
