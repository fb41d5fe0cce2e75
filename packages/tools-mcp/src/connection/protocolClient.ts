import type { LockedEra, LockedTool } from "../lock/lock.js";

/** How far a call is, as its server says. */
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

/** The answer to a server's question, in the words of the protocol. */
export interface ElicitResult extends Readonly<Record<string, unknown>> {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Record<string, string | number | boolean | string[]>;
}

/** What a server may send without being asked. */
export interface ClientEvents {
  /** Puts a question of the server to the user. Absent: the server is informed that no one can be asked. */
  readonly elicit?: (params: unknown, signal: AbortSignal) => Promise<ElicitResult>;
  readonly onToolsChanged: () => void;
  /** Called once when the open connection has ended. */
  readonly onClose: () => void;
}

export interface ConnectRequest {
  /** The era of the protocol to use. Absent: the client finds it out. */
  readonly era: LockedEra | undefined;
  readonly events: ClientEvents;
}

/**
 * A client that is connected to a server, in either era of the protocol. Results are what the server sent, unchecked:
 * one malformed tool must not make a whole list fail.
 */
export interface ProtocolClient {
  readonly era: LockedEra;
  readonly info: { readonly name: string; readonly version: string } | undefined;
  /** What the server says about its use, unchecked. */
  readonly instructions: unknown;
  /** What the server said that it can do. */
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

/** A way to a server: a program that was started, or an address. */
export interface ServerLink {
  /** Connects. Rejects with the reason, or once `signal` aborts. */
  connect(request: ConnectRequest, signal: AbortSignal): Promise<ProtocolClient>;
  /** Why the connection ended, as text; empty while it is open or where that is not known. */
  endReason(): string;
  /** Ends the connection. Resolves once nothing the server started is left. */
  close(): Promise<void>;
}
