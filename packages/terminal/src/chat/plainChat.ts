import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { AgentEvent, ApprovalRequest, FileDiff, TextEvent } from "@agent/core";
import type { UserDecision } from "@agent/core/host";
import { escapeInvisible, onAbort } from "@agent/core/toolkit";
import { escapeToLine } from "@agent/internal";
import { approvalLines, approvalPrompt, readDecision } from "../approval/approvalQuestion.js";
import { ChildCalls } from "../display/innerCalls.js";
import { contextText, cutOffText, noticeText, retryText, usageText } from "../display/notices.js";
import { childLines } from "../display/plainActivity.js";
import { finishedLines, headerLines } from "../display/toolBlock.js";
import { History } from "../input/history.js";
import type { MenuItem } from "../input/menu.js";
import { hasScreenReader } from "../screen/terminalKind.js";
import { CHAT_EXITS, ENDING_SIGNALS, onEndingSignals } from "../system/signals.js";
import { PLAIN_STYLE } from "../text/style.js";
import type { ChatController } from "./controller.js";
import type { ChatView, PickOptions } from "./view.js";

const PROMPT = "> ";

/** The chat as plain lines, for `TERM=dumb` and screen readers: the terminal edits the line. */
export class PlainChat {
  readonly view: PlainView;
  readonly #lines: Interface;
  readonly #output: Writable;
  readonly #history: History;
  #controller: ChatController | undefined;
  #continued = "";
  /** Handles the answer to the open question. */
  #answer: ((line: string | undefined) => void) | undefined;
  #ended = false;
  #stopWatching: () => void = () => undefined;

  constructor(historyFile: string | undefined, input: Readable, output: Writable) {
    this.#output = output;
    this.#history = new History(historyFile);
    // `terminal: false`: readline writes no escape codes, and the kernel edits the line.
    this.#lines = createInterface({ input, terminal: false });
    const isSpoken = hasScreenReader();
    this.view = new PlainView({
      write: (text) => output.write(isSpoken ? spokenText(text) : text),
      readLine: (prompt, signal) => this.#ask(prompt, signal),
      idle: () => this.#idle(),
    });
  }

  open(controller: ChatController): void {
    this.#controller = controller;
    this.#lines.on("line", (line) => this.#take(line));
    this.#lines.on("close", () => {
      this.#ended = true;
      this.#answer?.(undefined);
      if (!controller.busy) controller.quit(CHAT_EXITS.done);
    });
    this.#output.on("error", () => controller.quit(CHAT_EXITS.hungUp));
    this.#stopWatching = onEndingSignals(ENDING_SIGNALS, (code) => {
      if (code === CHAT_EXITS.interrupted && controller.busy && !controller.stopping) controller.stopTurn();
      else controller.quit(code);
    });
    this.#idle();
  }

  async suspendDuring<T>(work: () => Promise<T>): Promise<T> {
    return await work();
  }

  close(): void {
    this.#stopWatching();
    this.#lines.close();
  }

  /** Shows the prompt, or ends the chat if the input has ended. */
  #idle(): void {
    if (this.#ended) this.#controller?.quit(CHAT_EXITS.done);
    else this.#output.write(PROMPT);
  }

  #take(line: string): void {
    if (this.#answer) {
      this.#answer(line);
      return;
    }
    if (line.endsWith("\\")) {
      this.#continued += `${line.slice(0, -1)}\n`;
      return;
    }
    const text = this.#continued + line;
    this.#continued = "";
    if (text.trim() !== "") this.#history.add(text);
    this.#controller?.submit(text);
  }

  async #ask(prompt: string, signal?: AbortSignal): Promise<string | undefined> {
    if (this.#ended || signal?.aborted) return undefined;
    this.#output.write(prompt);
    return await new Promise((resolve) => {
      const release = onAbort(signal, () => {
        this.#output.write("\n");
        this.#answer?.(undefined);
      });
      this.#answer = (line) => {
        release();
        this.#answer = undefined;
        resolve(line);
      };
    });
  }
}

/** Marks at the start of a line, and the words that replace them for a screen reader. */
const SPOKEN_STARTS: readonly (readonly [mark: RegExp, words: string])[] = [
  [/^● /, "Call: "],
  [/^│ ?/, "  "],
  [/^└ ✓ ?/, "Succeeded: "],
  [/^└ ✗ ?/, "Failed: "],
  [/^⏰ /, "Notice: "],
  [/^\? /, "Question: "],
];

/** Replaces marks that a screen reader would spell out with words. */
export function spokenText(text: string): string {
  const lines = text.split("\n").map((line) => {
    const [mark, words] = SPOKEN_STARTS.find(([start]) => start.test(line)) ?? [];
    if (!mark || words === undefined) return line;
    const rest = line.replace(mark, words);
    // Tool output is unchanged.
    if (line.startsWith("│")) return rest;
    return rest
      .replace(/ {2}✓ /, ", succeeded, ")
      .replace(/ {2}✗ /, ", failed, ")
      .replaceAll(" · ", ", ");
  });
  return lines.join("\n");
}

// Plain output cannot be expanded later, so more is shown than in the live terminal.
const OPTIONS = { style: PLAIN_STYLE, width: 200, maxLines: 40, readRows: 40 };
const CLOSED = "the user closed the question.";
const KEYS = [
  ["Enter", "send; \\ at the end of a line continues it"],
  ["Ctrl+C", "stop the answer; otherwise quit, like Ctrl+D"],
] as const;

/** The functions plain output needs: print, ask, and a callback when the agent is idle. */
interface PlainIo {
  readonly write: (text: string) => void;
  /** Resolves to nothing when the signal aborts or the input ends. */
  readonly readLine: (prompt: string, signal?: AbortSignal) => Promise<string | undefined>;
  readonly idle: () => void;
}

/** The chat as plain lines: no colour, no animation, nothing printed is changed later. */
class PlainView implements ChatView {
  readonly style = PLAIN_STYLE;
  readonly columns = OPTIONS.width;
  readonly keys = KEYS;
  /** Always empty: plain output cannot be expanded. */
  readonly expandable: readonly string[] = [];
  readonly #io: PlainIo;
  readonly #titles = new Map<string, string>();
  readonly #children = new ChildCalls();
  /** The changes shown in questions, by call id. */
  readonly #previewed = new Map<string, readonly FileDiff[]>();
  #unwritten = "";
  /** Whether part of the current answer is printed. */
  #writing = false;

  constructor(io: PlainIo) {
    this.#io = io;
  }

  print(lines: readonly string[]): void {
    this.#finishLine();
    if (lines.length === 0) return;
    this.#io.write(`${lines.join("\n")}\n`);
  }

  question(_text: string, lines: readonly string[]): void {
    this.print(lines);
  }

  answered(text: string): void {
    this.print([`? ${text}`]);
  }

  event(event: AgentEvent): void {
    if (event.type === "text") this.#text(event.whole ?? event.text);
    else this.print(this.#linesOf(event));
  }

  /** Prints nothing: the terminal has already echoed the line. */
  echo(): void {}

  turnStarted(): void {
    this.#writing = false;
  }

  turnEnded(problem: string | undefined): void {
    this.#finishLine();
    this.#titles.clear();
    this.#previewed.clear();
    if (problem !== undefined) this.print([problem]);
  }

  queued(messages: readonly string[]): void {
    if (messages.length > 0) this.print([`(queued: ${messages.length})`]);
  }

  idle(): void {
    this.#io.idle();
  }

  giveBack(text: string): void {
    this.print(["Not sent:", escapeInvisible(text)]);
  }

  expand(): void {}

  status(): void {}

  notify(): void {}

  title(): void {}

  progress(): void {}

  copy(): string {
    return "This terminal shows plain lines only, so nothing can be copied to its clipboard.";
  }

  /**
   * Prints a numbered list and reads a number, or a free-text answer with `takesText`; anything else chooses nothing.
   */
  async pick(
    title: string,
    items: readonly MenuItem[],
    { takesText = false, signal }: PickOptions = {},
  ): Promise<string | undefined> {
    // A title can contain the name of a server.
    const heading = escapeToLine(title);
    const lines = items.map(
      ({ label, detail }, at) => `  ${at + 1}  ${escapeToLine([label, detail].filter(Boolean).join("  "))}`,
    );
    if (takesText) {
      const [suggested, ...others] = items;
      if (others.length > 0) this.print([`${heading}:`, ...lines]);
      const hint = suggested === undefined ? "" : ` [${escapeToLine(suggested.label)}]`;
      const prompt = others.length > 0 ? "Number, or another answer" : heading;
      const text = await this.#io.readLine(`${prompt}${hint}: `, signal);
      const numbered = others.length > 0 ? items[Number(text?.trim() || Number.NaN) - 1] : undefined;
      return text === "" ? (suggested?.value ?? "") : (numbered?.value ?? text);
    }
    this.print([`${heading}:`, ...lines]);
    const answer = await this.#io.readLine("Number, or Enter for none: ", signal);
    return items[Number(answer?.trim()) - 1]?.value;
  }

  async ask(request: ApprovalRequest): Promise<UserDecision> {
    this.print(approvalLines(request, this.style));
    this.#previewed.set(request.id, request.preview?.changes ?? []);
    for (;;) {
      const answer = await this.#io.readLine(`${approvalPrompt(request)}\n? `, request.signal);
      if (answer === undefined) return { deny: CLOSED };
      const decision = readDecision(answer, request.name);
      if (decision) return decision;
    }
  }

  #linesOf(event: Exclude<AgentEvent, TextEvent>): readonly string[] {
    switch (event.type) {
      case "retry":
        this.#unwritten = "";
        return [retryText(event, this.#writing)];
      case "tool_requested":
        this.#writing = false;
        this.#titles.set(event.id, escapeToLine(event.title ?? ""));
        return [];
      case "tool_start": {
        const title = event.about ? escapeToLine(event.about.title) : (this.#titles.get(event.id) ?? "");
        this.#titles.set(event.id, title);
        return [`${headerLines(event.name, title, OPTIONS).join("\n")}  executing…`];
      }
      case "tool_end": {
        const title = this.#titles.get(event.id) ?? escapeToLine(event.about?.title ?? "");
        this.#titles.delete(event.id);
        const previewed = this.#previewed.get(event.id);
        this.#previewed.delete(event.id);
        return finishedLines({ title, event, ...(previewed && { previewed }) }, OPTIONS).lines;
      }
      case "done":
        return [cutOffText(event), usageText(event)].filter((text) => text !== undefined);
      case "context":
        return [contextText(event)];
      case "notice":
        return [noticeText(event)];
      case "child":
        return childLines(event, this.#children);
      case "reasoning":
      case "tool_draft":
      case "tool_output":
      case "tool_process":
      case "tool_progress":
      case "steered":
      case "usage":
        return [];
      default:
        event satisfies never;
        return [];
    }
  }

  /** Prints whole lines only: printed text cannot be changed, and screen readers read by line. */
  #text(text: string): void {
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) {
      this.#writing = true;
      const lines = this.#unwritten + text.slice(0, end);
      this.#io.write(escapeInvisible(lines.replaceAll("\r\n", "\n")));
      this.#unwritten = "";
    }
    this.#unwritten += text.slice(end);
  }

  #finishLine(): void {
    if (this.#unwritten !== "") this.#text("\n");
  }
}
