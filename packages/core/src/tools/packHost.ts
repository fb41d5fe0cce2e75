import type { PackState } from "../conversation/packState.js";
import type { PackAgent } from "./packServices.js";
import type { AccessRules, ToolContext } from "./types.js";

/**
 * What the host hands to a pack: the agent's live state and the pack's own options block. `Options` is what the pack takes:
 * the compiler checks it where it sees the pack selected. Options also come from files that no compiler reads, so a
 * pack checks them with `packOptions` all the same.
 */
export interface PackHost<Options = unknown> {
  readonly context: ToolContext;
  readonly options?: Options;
  /** Absolute paths the host never lets a tool write, move or remove: its own configuration, trust and sessions. */
  readonly protectedPaths?: readonly string[];
  /**
   * Names the host never lets a tool write, move or remove in any directory, because it loads files by them:
   * `agent.config.ts`. `package.json#agent` means one key of that file.
   */
  readonly protectedNames?: readonly string[];
  /** The values of the secrets the pack declares in `secrets`, those that are set. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Names of environment variables that hold secrets: no command may see them. A live list: it may grow. */
  readonly secretVariables?: readonly string[];
  /** Where tools may go without asking. Absent: everywhere. */
  readonly access?: AccessRules;
  /**
   * Whether the user trusts the project in the working directory to run its own code, such as a language server with the
   * plugins that the project configures. Absent: the program that runs the agent makes no difference.
   */
  readonly trusted?: boolean;
  /** Where relative paths in the options start: the directory of the config. Absent: the working directory. */
  readonly baseDirectory?: string;
  /** The model that answers. Read it when it is needed: the user may switch to another. Absent where there is no model. */
  readonly model?: HostModel;
  /**
   * What a name of a model stands for, such as the `model` of a child agent. Rejects, naming the model, if the host has none of
   * that name. Absent where the host knows no other model.
   */
  readonly resolveModel?: (name: string) => Promise<HostModel>;
  /** What the pack keeps with the session. Absent where nothing is kept, and for a pack without `packName`. */
  readonly state?: PackState;
  /** Where the pack may keep files of its own. Absent where the host has no place, and for a pack without `packName`. */
  readonly directories?: PackDirectories;
  /** The agents that all packs define, for a tool that starts them. A live list. */
  readonly agents?: () => readonly PackAgent[];
  /**
   * Starts a turn with a notice that the model reads as not written by the user, as soon as no message is being answered.
   * Absent where no one would see the turn, such as in a single task: then say how to look instead.
   */
  readonly wake?: (notice: WakeNotice) => void;
  /** Asks the user. Absent where no one can answer. */
  readonly ask?: (question: PersonQuestion) => Promise<PersonAnswer>;
  /**
   * Asks whether a running call may do something that its approval did not cover, such as connecting to a host. The host
   * may remember the answer for the session or the project. Absent: nothing of that kind is allowed.
   */
  readonly permit?: (request: PermitRequest) => Promise<PermitAnswer>;
  /** The files of the editor the user works in. Absent where there is none: tools then use the disk alone. */
  readonly editorFiles?: EditorFiles;
}

/** The model that answers, as far as its provider tells. A live object: it follows the user's choice. */
export interface HostModel {
  /** The provider's id: `anthropic`. */
  readonly provider: string | undefined;
  /** The model's name. */
  readonly id: string | undefined;
  /** How many tokens its context holds. */
  readonly contextTokens: number | undefined;
}

/** Absolute paths of directories of a pack's own, which the pack creates when it needs them. */
export interface PackDirectories {
  /** For what belongs to this project on this machine. */
  readonly project?: string;
  /** For what belongs to this user. */
  readonly user?: string;
}

/** Something that happened while no message was being answered. */
export interface WakeNotice {
  /** What it is about: `job-1`. Notices of the same source that wait are joined. */
  readonly source: string;
  /** What happened, for the model. */
  readonly text: string;
}

/** Something that a running call wants to do and that the user has to allow. */
export interface PermitRequest {
  /** Who asks: `A command in the sandbox`. */
  readonly source: string;
  /**
   * What to allow, under the name by which the host remembers and lists it: `net.connect(example.com)`. The part in front
   * of the bracket has a dot, which no name of a tool has.
   */
  readonly permission: string;
  /** The question. Lines may be broken with a newline. */
  readonly message: string;
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/** `allowed` holds until the call has ended. `unanswered`: no one can be asked, or the question was closed. */
export type PermitAnswer = "allowed" | "refused" | "unanswered";

/** A question of a pack to the user. */
export interface PersonQuestion {
  /** Who asks: `the MCP server "github"`. Shown with the question, so that no one can pretend to be the agent. */
  readonly source: string;
  readonly message: string;
  /** The fields of the form that the user fills in. Empty: the question is answered with yes or no. */
  readonly fields: readonly QuestionField[];
  /** An address the user is asked to open. The host shows it whole and opens nothing by itself. */
  readonly url?: string;
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

export interface QuestionField {
  readonly name: string;
  readonly type: "text" | "number" | "integer" | "boolean" | "choice" | "choices";
  readonly title?: string;
  readonly description?: string;
  readonly required: boolean;
  /** What can be chosen, for `choice` and `choices`. */
  readonly options?: readonly { readonly value: string; readonly title?: string }[];
  readonly default?: unknown;
}

/** `values` has what was filled in by name; `no` is a refusal, `dismissed` is no answer at all. */
export type PersonAnswer =
  | { readonly answer: "yes"; readonly values: Readonly<Record<string, unknown>> }
  | { readonly answer: "no" | "dismissed" };

/**
 * The text files of an editor, as the user sees them: unsaved changes included. Paths are absolute and canonical. A
 * tool checks a path under its own rules before it asks: the editor knows none of them.
 */
export interface EditorFiles {
  /** The text the editor has. Rejects for a file that it cannot open. */
  readText?(path: string, signal?: AbortSignal): Promise<string>;
  /** Replaces the whole text and saves it; makes the file if there is none. Rejects if the editor did not. */
  writeText?(path: string, text: string, signal?: AbortSignal): Promise<void>;
}
