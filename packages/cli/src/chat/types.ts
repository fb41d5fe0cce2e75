import type { Agent, Approve, BackgroundJobs, ToolInfo } from "@agent/core";
import type { ExitCode } from "../process/exitCodes.js";

/** What the interactive chat needs to know besides the agent itself. */
export interface ChatSettings {
  /** Shown when the chat starts: which model answers, what is not available, warnings. */
  readonly banner: readonly string[];
  readonly model: string;
  /** Tools whose calls run only after a yes. */
  readonly confirm: ReadonlySet<string>;
  /** Background work of all packs together, for `/status`. */
  readonly jobs: BackgroundJobs;
  /** Why a tool is on or off, for `/tools`: "off by default", "enabled in agent.config.ts". */
  readonly explain: (tool: ToolInfo) => string;
  /** Switches to another model for the next message and resolves to its name; absent where that is not possible. */
  readonly switchModel?: (model: string) => Promise<string>;
  /** Starts a new session, without the conversation so far; absent where none is kept. */
  readonly startNewSession?: () => Promise<void>;
}

/** Who answers, and everything the chat needs to know about it. */
export interface ReadyChat {
  readonly agent: Agent;
  readonly settings: ChatSettings;
  /** Called once when the chat is over and the terminal is restored. */
  end(): Promise<void>;
}

/** The chat in a terminal. Created first, because the agent asks it for approval. */
export interface Chat {
  readonly approve: Approve;
  /** Shows what went wrong beside the conversation. */
  readonly notice: (message: string) => void;
  /**
   * Talks until the person quits; the terminal is restored whatever happens. What is written while `load` is at
   * work waits for its end. Rejects with what `load` rejects with.
   */
  run(load: () => Promise<ReadyChat>): Promise<ExitCode>;
}
