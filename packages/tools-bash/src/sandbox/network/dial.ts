import { lookup } from "node:dns/promises";
import { connect, type Socket } from "node:net";
import { canonicalHost } from "@agent/core/sandbox";

/** The network outside the sandbox. */
export interface Outside {
  /** The addresses of a name, in canonical notation. */
  resolve(host: string): Promise<readonly string[]>;
  /** Starts to connect to an address, which is never a name. */
  connect(address: string, port: number): Socket;
}

export const SYSTEM_NETWORK: Outside = {
  resolve: async (host) => {
    const found = await lookup(host, { all: true, verbatim: true });
    // An address with a zone has no canonical notation, and is not public.
    return found.map(({ address }) => canonicalHost(address) ?? address);
  },
  connect: (address, port) => connect({ host: address, port, allowHalfOpen: true }),
};

/** Connects to the first of the addresses that answers. */
export async function dial(
  addresses: readonly string[],
  port: number,
  options: {
    readonly outside: Outside;
    /** The maximum time for each address. */
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  },
): Promise<Socket> {
  const { outside, timeoutMs, signal } = options;
  let failure: unknown = new Error("there is no address to connect to");
  for (const address of addresses) {
    if (signal.aborted) break;
    try {
      return await connected(outside.connect(address, port), timeoutMs, signal);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function connected(socket: Socket, timeoutMs: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const abort = (): void => void socket.destroy(new Error("no answer in time"));
    const timer = setTimeout(abort, timeoutMs);
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      socket.off("error", fail);
    };
    const fail = (error: Error): void => {
      settle();
      reject(error);
    };
    signal.addEventListener("abort", abort);
    socket.once("error", fail);
    socket.once("connect", () => {
      settle();
      resolve(socket);
    });
  });
}
