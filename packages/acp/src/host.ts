import type { Agent, Approve } from "@agent/core";

/** A server that the editor wants the agent to use, in the form of the options of `@agent/tools-mcp`. */
export type EditorServer =
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> };

export interface OpenSessionRequest {
  /** The directory the editor works in. */
  readonly cwd: string;
  /** Other directories that belong to the work. */
  readonly additionalDirectories: readonly string[];
  /** The session to go on with. Absent: a new one. */
  readonly resume?: string;
  readonly servers: Readonly<Record<string, EditorServer>>;
  /** To be asked about every call: it knows the mode and asks in the editor. */
  readonly approve: Approve;
  readonly signal: AbortSignal;
}

/** Which model answers, if the host lets that be chosen. */
export interface ModelChoice {
  readonly current: string;
  readonly available: readonly string[];
  /** Changes it from the next message on. */
  choose(model: string): void | Promise<void>;
}

/** An agent at work for one session of an editor. */
export interface HostSession {
  readonly id: string;
  readonly agent: Agent;
  readonly model?: ModelChoice;
  /** How many tokens the model's context holds, where that is known. */
  readonly contextTokens?: number;
  /** What did not work, shown at the start: a server that does not answer, a pack that is missing. */
  readonly problems?: readonly string[];
  /** Ends what the session started. */
  dispose(): Promise<void>;
}

export interface KeptSession {
  readonly id: string;
  readonly cwd: string;
  readonly title?: string;
  /** ISO 8601. */
  readonly updatedAt?: string;
}

/** Who makes the agents that editors talk to: the `agent` command, or a program of yours. */
export interface AcpHost {
  readonly name: string;
  readonly version: string;
  openSession(request: OpenSessionRequest): Promise<HostSession>;
  /** The sessions that can be loaded. Absent: none are kept. */
  listSessions?(cwd: string | undefined): Promise<readonly KeptSession[]>;
}
