import type { JsonSchema } from "@agent/core";

/** A tool as a user approved it. */
export interface LockedTool {
  /** Its name on the server. */
  readonly tool: string;
  /** Its name for the model. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  /** The schema of a call's structured result, if the server has one. */
  readonly outputSchema?: JsonSchema;
  /** The server's own annotations of the tool. They can only restrict it. */
  readonly annotations?: Readonly<Record<string, unknown>>;
  /** A hash of all fields above except `name`: a tool with another hash is disabled. */
  readonly hash: string;
}

/** A prompt of the server, offered as a command of the chat. */
export interface LockedPrompt {
  readonly prompt: string;
  readonly description: string;
  readonly arguments: readonly {
    readonly name: string;
    readonly description?: string;
    readonly required?: boolean;
  }[];
}

/** Something the server listed that cannot be used, and why. */
export interface SetAside {
  readonly tool: string;
  readonly reason: string;
}

/** The protocol era of the server: with the handshake up to 2025-11-25, or without one since 2026-07-28. */
export type LockedEra =
  | { readonly kind: "legacy"; readonly version: string }
  | {
      readonly kind: "modern";
      readonly version: string;
      readonly discover: Readonly<Record<string, unknown>>;
    };

/** Everything that was approved about one server. */
export interface LockedServer {
  /** A hash of how it is reached; the lock is not valid for another program or URL. */
  readonly source: string;
  readonly era: LockedEra;
  readonly info?: { readonly name: string; readonly version: string };
  readonly tools: readonly LockedTool[];
  readonly prompts: readonly LockedPrompt[];
  /** Whether it has resources, which can be mentioned in the chat. */
  readonly hasResources: boolean;
  /** The server's instructions for the model. */
  readonly instructions?: string;
  readonly setAside: readonly SetAside[];
}

export interface Lock {
  readonly lockVersion: 1;
  readonly servers: Readonly<Record<string, LockedServer>>;
}
