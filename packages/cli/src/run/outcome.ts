import { type AgentEvent, isAgentError, type ToolEndEvent } from "@agent/core";
import type { Mode } from "@agent/core/host";
import { errorMessage } from "@agent/core/toolkit";
import { isEmptyAnswer } from "@agent/terminal/host";
import { CliError } from "../process/errors.js";
import { EXIT, type ExitCode } from "../process/exitCodes.js";

/** The abort reason of a run that was stopped from outside. */
export interface Stop {
  readonly exitCode: ExitCode;
  readonly message: string;
}

/** The end of a run: its message and its exit code. */
export interface Outcome {
  readonly exitCode: ExitCode;
  readonly error?: string;
}

/**
 * Observes a run and decides its outcome. A failed call counts only if no call succeeded after it: the model may have
 * recovered. A denied call always counts, because the run did less than it was asked to.
 */
export class OutcomeWatcher {
  readonly #mode: () => Mode;
  #lastCall: ToolEndEvent | undefined;
  #denied: ToolEndEvent | undefined;
  #cutOff: string | undefined;
  #saidNothing = false;

  constructor(mode: () => Mode) {
    this.#mode = mode;
  }

  see(event: AgentEvent): void {
    if (event.type === "tool_end") {
      this.#lastCall = event;
      if (event.outcome === "denied") this.#denied = event;
    }
    if (event.type !== "done") return;
    this.#saidNothing = isEmptyAnswer(event);
    if (event.finishReason === "length" || event.finishReason === "content_filter") {
      this.#cutOff = event.finishReason === "length" ? "its length limit" : "a content filter";
    }
  }

  finished(): Outcome {
    if (this.#denied)
      return { exitCode: EXIT.refused, error: `${this.#denied.name} was not run. ${this.#denied.text}` };
    if (this.#lastCall && this.#lastCall.outcome !== "ok") {
      const { name, summary, outcome } = this.#lastCall;
      return {
        exitCode: EXIT.tool,
        error: `The last tool call failed: ${name} (${summary ?? outcome.replace("_", " ")}).${this.#hint(this.#lastCall)}`,
      };
    }
    if (this.#cutOff)
      return {
        exitCode: EXIT.model,
        error: `The answer is incomplete: the model stopped at ${this.#cutOff}.`,
      };
    if (this.#saidNothing)
      return {
        exitCode: EXIT.model,
        error: "The model gave an empty answer. Ask again, or try another model (--model).",
      };
    return { exitCode: EXIT.done };
  }

  #hint({ name, text }: ToolEndEvent): string {
    // A longer text names another reason, such as a tool that replaces this one.
    if (text !== `Tool not available: ${name}`) return "";
    return this.#mode() === "plan" ? " Plan mode turned it off." : ` Turn it on with --enable ${name}.`;
  }

  failed(error: unknown, stop: Stop | undefined): Outcome {
    if (stop && isAgentError(error, "aborted")) {
      return stop.message === ""
        ? { exitCode: stop.exitCode }
        : { exitCode: stop.exitCode, error: stop.message };
    }
    if (error instanceof CliError) return { exitCode: error.exitCode, error: error.message };
    if (isAgentError(error, "budget_exceeded")) return { exitCode: EXIT.budget, error: errorMessage(error) };
    const turnLimit = isAgentError(error, "turn_limit") || isAgentError(error, "repeated_calls");
    return { exitCode: turnLimit ? EXIT.turnLimit : EXIT.model, error: errorMessage(error) };
  }
}
