import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { EXIT } from "../process/exitCodes.js";
import type { ChatController } from "./controller.js";
import { onEndingSignals } from "./endingSignals.js";
import { History } from "./input/history.js";
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
  #answer: ((line: string) => void) | undefined;
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
      if (!controller.busy) controller.quit(EXIT.done);
    });
    this.#output.on("error", () => controller.quit(EXIT.hungUp));
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
    if (this.#ended) this.#controller?.quit(EXIT.done);
    else this.#output.write(PROMPT);
  }

  #take(line: string): void {
    const answer = this.#answer;
    if (answer) {
      this.#answer = undefined;
      answer(line);
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

  #ask(prompt: string, signal: AbortSignal): Promise<string> {
    this.#output.write(prompt);
    return new Promise((resolve) => {
      this.#answer = resolve;
      signal.addEventListener("abort", () => {
        if (this.#answer !== resolve) return;
        this.#answer = undefined;
        this.#output.write("\n");
      });
    });
  }

  readonly #interrupt = (): void => {
    if (this.#controller?.busy && !this.#controller.stopping) this.#controller.stopTurn();
    else this.#controller?.quit(EXIT.interrupted);
  };
}
