import type {
  Agent,
  AgentEvent,
  ApprovalRequest,
  Approve,
  Content,
  EditorFiles,
  PackCommand,
  UserAnswer,
  UserQuestion,
} from "@agent/core";

/** An MCP server that the editor provides, in the form of the options of `@agent/tools-mcp`. */
export type EditorServer =
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** One answer that a user can give to a question about a call. */
export interface PermissionChoice {
  readonly id: string;
  readonly name: string;
  readonly kind: "allow_once" | "allow_always" | "reject_once" | "reject_always";
}

export interface OpenSessionRequest {
  /** The directory the editor works in. */
  readonly cwd: string;
  /** Other directories that belong to the project. */
  readonly additionalDirectories: readonly string[];
  /** The id of the session to continue. Absent: a new one. */
  readonly resume?: string;
  /** Continue in a copy of the session `resume`, which is unchanged. */
  readonly fork?: boolean;
  readonly servers: Readonly<Record<string, EditorServer>>;
  /** For an agent without approval rules: decides by the session's mode, or asks the user in the editor. */
  readonly approve: Approve;
  /**
   * For a host with its own approval rules, which also has `modes`: shows the whole call and lets the user choose.
   * Resolves to the id of the choice, or to `undefined` if the user closed the question.
   */
  readonly choose: (
    request: ApprovalRequest,
    choices: readonly PermissionChoice[],
  ) => Promise<string | undefined>;
  /** Asks the user a question of a pack, in the editor: for `PackHost.ask`. */
  readonly ask: (question: UserQuestion) => Promise<UserAnswer>;
  /** The editor's files, if it offers them: for `PackHost.editorFiles`. */
  readonly editorFiles?: EditorFiles;
  readonly signal: AbortSignal;
}

/** The choice of the model, if the host offers one. */
export interface ModelChoice {
  readonly current: string;
  readonly available: readonly string[];
  /** Asks the server for more models; the editor is informed when they are known. */
  list?(signal: AbortSignal): Promise<readonly string[]>;
  /** Changes the model, from the next message on. */
  choose(model: string): void | Promise<void>;
}

export interface SessionMode {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/** The reasoning effort, if the host offers a choice. */
export interface EffortChoice {
  readonly current: string;
  /** Live: another model may have other efforts. Empty: the model has none. */
  readonly available: readonly string[];
  choose(effort: string): void;
}

/** The user's choices in a session: a later `session/load` restores them. */
export interface SessionChoices {
  readonly mode?: string;
  readonly model?: string;
  readonly effort?: string;
}

/** The modes of a host with its own approval rules: which calls run without asking. */
export interface ModeChoice {
  readonly current: string;
  readonly available: readonly SessionMode[];
  choose(id: string): void;
}

/** A slash command. */
export interface SessionCommand extends PackCommand {
  /** The completions after the name. Absent: any text. Empty: none. */
  readonly hint?: string;
}

/** The agent of one session of an editor. */
export interface HostSession {
  readonly id: string;
  readonly agent: Agent;
  readonly model?: ModelChoice;
  readonly effort?: EffortChoice;
  /** The user's earlier choices in a stored session. */
  readonly choices?: SessionChoices | undefined;
  /** Stores the user's choices. Absent: a loaded session starts with the defaults. */
  saveChoices?(choices: SessionChoices): void | Promise<void>;
  /** Called with every event of the agent. */
  onEvent?(event: AgentEvent): void;
  /** Absent: the session has the modes read-only, ask and auto, which `approve` of the request follows. */
  readonly modes?: ModeChoice;
  /** Commands for the user, besides those of the packs. */
  readonly commands?: readonly SessionCommand[];
  /** The size of the model's context in tokens, if known. */
  readonly contextTokens?: number | undefined;
  /** Problems shown at the start: a server that does not answer, a missing pack. */
  readonly problems?: readonly string[];
  /** Problems that become known later. The first message waits for this promise: all tools are then registered. */
  readonly ready?: Promise<readonly string[]>;
  /** Transforms every message before it is sent to the model. */
  beforeMessage?(content: Content): Content | Promise<Content>;
  /** Called when a message was answered, interrupted or failed, and its tools have finished. */
  afterMessage?(): void | Promise<void>;
  /** Stops everything the session started. */
  dispose(): Promise<void>;
}

/** A way to authenticate. */
export interface AuthMethod {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
}

export interface KeptSession {
  readonly id: string;
  readonly cwd: string;
  readonly title?: string;
  /** ISO 8601. */
  readonly updatedAt?: string;
}

/** Creates the agents for editors. Implemented by the `agent` command, or by your own program. */
export interface AcpHost {
  readonly name: string;
  readonly version: string;
  /** Rejects with an error whose `code` is `auth_required` if the user must authenticate first. */
  openSession(request: OpenSessionRequest): Promise<HostSession>;
  /** How a user can authenticate. */
  readonly authMethods?: readonly AuthMethod[];
  /** Authenticates with one of the methods. Rejects with an explanation of what the user has to do. */
  authenticate?(id: string): Promise<void>;
  /** The stored sessions, which can be loaded. Absent: sessions are not stored. */
  listSessions?(cwd: string | undefined): Promise<readonly KeptSession[]>;
  /** Deletes a stored session. Absent: the editor cannot delete sessions. */
  deleteSession?(id: string): Promise<void>;
}
