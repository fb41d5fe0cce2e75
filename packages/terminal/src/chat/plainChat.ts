import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { onAbort } from "@agent/core/toolkit";
import { History } from "../input/history.js";
import { CHAT_EXITS, onEndingSignals } from "../system/signals.js";
import type { ChatController } from "./controller.js";
import { PlainView } from "./plainView.js";

const PROMPT = "> ";

/** The chat in plain lines, for `TERM=dumb` and screen readers: the terminal edits the line. */
export class PlainChat {
  readonly view: PlainView;
  readonly #lines: Interface;
  readonly #output: Writable;
  readonly #history: History;
  #controller: ChatController | undefined;
  #continued = "";
  /** Takes the answer to the open question. */
  #answer: ((line: string | undefined) => void) | undefined;
  #ended = false;
  #stopWatching: () => void = () => undefined;

  constructor(historyFile: string | undefined, input: Readable, output: Writable) {
    this.#output = output;
    this.#history = new History(historyFile);
    // `terminal: false`: readline writes no escape codes, and the kernel edits the line.
    this.#lines = createInterface({ input, terminal: false });
    this.view = new PlainView({
      write: (text) => output.write(text),
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
    process.on("SIGINT", this.#interrupt);
    this.#stopWatching = onEndingSignals(["SIGTERM", "SIGHUP"], (code) => controller.quit(code));
    this.#idle();
  }

  async lend<T>(work: () => Promise<T>): Promise<T> {
    return await work();
  }

  close(): void {
    process.off("SIGINT", this.#interrupt);
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

  readonly #interrupt = (): void => {
    if (this.#controller?.busy && !this.#controller.stopping) this.#controller.stopTurn();
    else this.#controller?.quit(CHAT_EXITS.interrupted);
  };
}
