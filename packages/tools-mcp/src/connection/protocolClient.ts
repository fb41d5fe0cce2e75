import type { LockedEra, LockedTool } from "../lock/lock.js";

/** The progress of a call, as reported by its server. */
export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

export interface RequestOptions {
  /** Cancels the request: the server is informed, and the request rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** The answer to a server's question, in the terms of the protocol. */
export interface ElicitResult extends Readonly<Record<string, unknown>> {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Record<string, string | number | boolean | string[]>;
}

/** Messages a server may send on its own initiative. */
export interface ClientEvents {
  /** Asks the user a question of the server. Absent: the server is informed that no one can be asked. */
  readonly elicit?: (params: unknown, signal: AbortSignal) => Promise<ElicitResult>;
  readonly onToolsChanged: () => void;
  /** Called once when the open connection has ended. */
  readonly onClose: () => void;
}

export interface ConnectRequest {
  /** The protocol era to use. Absent: the client detects it. */
  readonly era: LockedEra | undefined;
  readonly events: ClientEvents;
}

/**
 * A connected client of a server, in either era of the protocol. Results are unchecked: one malformed tool must not
 * make a whole list fail.
 */
export interface ProtocolClient {
  readonly era: LockedEra;
  readonly info: { readonly name: string; readonly version: string } | undefined;
  /** The server's instructions, unchecked. */
  readonly instructions: unknown;
  /** The server's capabilities. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: RequestOptions,
  ): Promise<unknown>;
  callTool(
    tool: LockedTool,
    args: Readonly<Record<string, unknown>>,
    options: RequestOptions,
  ): Promise<unknown>;
}

/** A transport to a server: a started program, or a URL. */
export interface ServerLink {
  /** Connects. Rejects with the reason, or once `signal` aborts. */
  connect(request: ConnectRequest, signal: AbortSignal): Promise<ProtocolClient>;
  /** Why the connection ended, as text; empty while it is open or if unknown. */
  endReason(): string;
  /** Closes the connection. Resolves once all processes of the server have exited. */
  close(): Promise<void>;
}
