import type { AgentEvent, ToolRequestedEvent } from "@agent/core";
import { escapeToLine } from "@agent/core/toolkit";
import { AnswerStream } from "./answerStream.js";
import { callTitle } from "./callTitle.js";
import { ExpandStore } from "./expandStore.js";
import { contextText, cutOffText, retryText, usageText } from "./notices.js";
import { OutputTail } from "./outputTail.js";
import type { Style } from "./style.js";
import { type BlockOptions, finishedLines, openLines } from "./toolBlock.js";
import { wrapWords } from "./width.js";

const TAIL_LINES = 4;
const COMPACT_ROWS = 2;
const EXPAND_HINT = "ctrl+o expands";

interface OpenCall {
  readonly name: string;
  title: string;
  /** When it started to run; absent until then. */
  startedAt: number | undefined;
  readonly tail: OutputTail;
}

/** Parts of the conversation, set apart by a blank line. */
type Section = "answer" | "calls" | "chat";

export interface ActivityOptions {
  readonly style: Style;
  readonly now: () => number;
}

/**
 * What the agent does, as lines: events go in, a frame comes out. Knows no terminal. What has ended leaves
 * with the next frame and is forgotten, so that a long session needs no more memory than a short one.
 */
export class Activity {
  readonly #options: ActivityOptions;
  readonly #answer: AnswerStream;
  readonly #calls = new Map<string, OpenCall>();
  readonly #expand = new ExpandStore();
  #asking: string | undefined;
  #final: ((options: BlockOptions) => string[])[] = [];
  #lastSection: Section | undefined;
  #afterBlank = false;

  constructor(options: ActivityOptions) {
    this.#options = options;
    this.#answer = new AnswerStream(options.style);
  }

  get busy(): boolean {
    return this.#calls.size > 0;
  }

  get writing(): boolean {
    return !this.#answer.isEmpty;
  }

  event(event: AgentEvent): void {
    switch (event.type) {
      case "text":
        if (this.#answer.isEmpty) this.#section("answer");
        this.#afterBlank = false;
        this.#answer.add(event.text);
        return;
      case "tool_requested":
        this.#open(event);
        return;
      case "tool_start": {
        if (!this.#calls.has(event.id)) this.#open(event);
        const call = this.#calls.get(event.id);
        if (!call) return;
        call.title = callTitle(event.args);
        call.startedAt = this.#options.now();
        return;
      }
      case "tool_output":
        this.#calls.get(event.id)?.tail.push(event.chunk);
        return;
      case "tool_end": {
        const title = this.#calls.get(event.id)?.title ?? "";
        this.#calls.delete(event.id);
        this.#section("calls");
        this.#push((options) => {
          const { lines, expandable } = finishedLines({ title, event }, options);
          if (expandable) this.#expand.add({ title, event });
          return lines;
        });
        return;
      }
      case "retry":
        this.note(retryText(event, this.#answer.discard()));
        return;
      case "context":
        this.note(contextText(event));
        return;
      case "done":
        this.#finishAnswer();
        for (const text of [cutOffText(event), usageText(event)]) if (text !== undefined) this.note(text);
        return;
      default:
        return;
    }
  }

  /** The call a person is being asked about, or none. */
  asking(id: string | undefined): void {
    this.#asking = id;
  }

  /** Puts lines of the chat itself into the flow, in order with the events. They must be safe to show. */
  print(lines: readonly string[]): void {
    this.#section("chat");
    // An answer that is being written goes on below: it is not broken in the middle of a line.
    this.#push(({ width }) => {
      const rows = lines.flatMap((line) => wrapWords(line, width, /^ */.exec(line)?.[0].length));
      return this.writing ? [...rows, ""] : rows;
    });
  }

  /** A line about what was just shown. */
  note(text: string): void {
    this.#lastSection = undefined;
    this.#push(({ width }) => wrapWords(this.#options.style.dim(text), width));
  }

  /** The turn is over, however it ended: nothing stays on the screen that still seems to run. */
  end(): void {
    this.#finishAnswer();
    for (const call of this.#calls.values()) {
      this.note(`● ${escapeToLine(call.name)}  ${call.title}  ✗ no result`);
    }
    this.#calls.clear();
  }

  /** Prints the output of the last call that was collapsed, then of the one before it. */
  expandNext(): boolean {
    const lines = this.#expand.next();
    if (!lines) return false;
    this.#section("chat");
    this.#push(lines);
    return true;
  }

  frame(width: number, maxRows: number): { readonly above: string[]; readonly rows: string[] } {
    const options: BlockOptions = { style: this.#options.style, width, expandHint: EXPAND_HINT };
    const finished = this.#final.flatMap((render) => render(options));
    this.#final = [];
    const blocks = this.#blocks(options, maxRows);
    const answer = this.#answer.frame(width, Math.max(1, maxRows - blocks.length));
    return {
      above: finished.length === 0 ? answer.above : finished.concat(answer.above),
      rows: [...answer.rows, ...blocks],
    };
  }

  #blocks(options: BlockOptions, maxRows: number): string[] {
    const now = this.#options.now();
    const calls = [...this.#calls];
    const render = (tailLines: number): string[] =>
      calls.flatMap(([id, { name, title, startedAt, tail }]) =>
        openLines(
          {
            name,
            title,
            phase: startedAt !== undefined ? "executing" : id === this.#asking ? "asking" : "waiting",
            elapsedMs: now - (startedAt ?? now),
            tail: tail.lines(tailLines),
          },
          options,
        ),
      );
    for (const tailLines of [TAIL_LINES, 1, 0]) {
      const rows = render(tailLines);
      if (rows.length <= maxRows) return rows;
    }
    const fitting = Math.max(0, Math.floor((maxRows - 1) / COMPACT_ROWS));
    const more = this.#options.style.dim(`… and ${calls.length - fitting} more calls (/status lists them)`);
    return [...render(0).slice(0, fitting * COMPACT_ROWS), more];
  }

  #section(section: Section): void {
    const starts = section === "chat" || this.#lastSection !== section;
    if (starts && !this.#afterBlank) this.#final.push(() => [""]);
    this.#afterBlank ||= starts;
    this.#lastSection = section;
  }

  #push(render: (options: BlockOptions) => string[]): void {
    this.#final.push(render);
    this.#afterBlank = false;
  }

  #open({ id, name, args }: Pick<ToolRequestedEvent, "id" | "name" | "args">): void {
    this.#finishAnswer();
    this.#section("calls");
    this.#calls.set(id, { name, title: callTitle(args), startedAt: undefined, tail: new OutputTail() });
  }

  #finishAnswer(): void {
    if (this.#answer.isEmpty) return;
    const lines = this.#answer.finish();
    this.#push(({ width }) => lines(width));
  }
}
