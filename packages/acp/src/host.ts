import type {
  Agent,
  ApprovalRequest,
  Approve,
  Content,
  EditorFiles,
  PackCommand,
  PersonAnswer,
  PersonQuestion,
} from "@agent/core";

/** A server that the editor wants the agent to use, in the form of the options of `@agent/tools-mcp`. */
export type EditorServer =
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** One answer that a person can give to a question about a call. */
export interface PermissionChoice {
  readonly id: string;
  readonly name: string;
  readonly kind: "allow_once" | "allow_always" | "reject_once" | "reject_always";
}

export interface OpenSessionRequest {
  /** The directory the editor works in. */
  readonly cwd: string;
  /** Other directories that belong to the work. */
  readonly additionalDirectories: readonly string[];
  /** The session to go on with. Absent: a new one. */
  readonly resume?: string;
  readonly servers: Readonly<Record<string, EditorServer>>;
  /** For an agent without rules of its own: knows the session's mode and asks in the editor. */
  readonly approve: Approve;
  /**
   * For a host with rules of its own, which also brings `modes`: shows a call in full and lets the person choose. Resolves
   * to the id of the choice, or to `undefined` if the question was closed without one.
   */
  readonly choose: (
    request: ApprovalRequest,
    choices: readonly PermissionChoice[],
  ) => Promise<string | undefined>;
  /** Asks the person something else, in the editor: for `PackHost.ask`. */
  readonly ask: (question: PersonQuestion) => Promise<PersonAnswer>;
  /** The editor's files, if it offers them: for `PackHost.editorFiles`. */
  readonly editorFiles?: EditorFiles;
  readonly signal: AbortSignal;
}

/** Which model answers, if the host lets that be chosen. */
export interface ModelChoice {
  readonly current: string;
  readonly available: readonly string[];
  /** Asks the server for more models; the editor is told when they are known. */
  list?(signal: AbortSignal): Promise<readonly string[]>;
  /** Changes it from the next message on. */
  choose(model: string): void | Promise<void>;
}

export interface SessionMode {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** How much runs without a question, for a host that decides about calls itself. */
export interface ModeChoice {
  readonly current: string;
  readonly available: readonly SessionMode[];
  choose(id: string): void;
}

/** An agent at work for one session of an editor. */
export interface HostSession {
  readonly id: string;
  readonly agent: Agent;
  readonly model?: ModelChoice;
  /** Absent: the session has the modes read-only, ask and auto, which `approve` of the request obeys. */
  readonly modes?: ModeChoice;
  /** Commands for the person, besides those of the packs. */
  readonly commands?: readonly PackCommand[];
  /** How many tokens the model's context holds, where that is known. */
  readonly contextTokens?: number;
  /** Problems shown at the start: a server that does not answer, a missing pack. */
  readonly problems?: readonly string[];
  /** Problems that are known later. The first message waits for them, so that no tool is missing from its answer. */
  readonly ready?: Promise<readonly string[]>;
  /** Transforms every message before it is sent to the model. */
  beforeMessage?(content: Content): Content | Promise<Content>;
  /** A message was answered, stopped or failed, and its tools have ended. */
  afterMessage?(): void | Promise<void>;
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
  /** Removes a kept session for good. Absent: the editor cannot. */
  deleteSession?(id: string): Promise<void>;
}
