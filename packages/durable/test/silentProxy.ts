import type { Socket } from "node:net";
import { startProxy } from "./proxy.js";

/** A proxy between a client and a server that can drop their data without closing a connection. */
export interface SilentProxy {
  /** The server's address, through the proxy. */
  readonly address: string;
  /** Simulates a lost machine or cable: nothing arrives any more, and no one is notified. New connections wait. */
  silence(): void;
  /** Lets new connections through again. */
  restore(): void;
}

export async function startSilentProxy(target: string): Promise<SilentProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const waiting = new Map<Socket, () => void>();
  let isSilent = false;
  const address = await startProxy(target, (near, dial) => {
    const forward = (): void => {
      const far = dial();
      pairs.add([near, far]);
      near.pipe(far).pipe(near);
    };
    if (!isSilent) {
      forward();
      return;
    }
    waiting.set(near, forward);
    near.once("close", () => waiting.delete(near));
  });
  return {
    address,
    silence() {
      isSilent = true;
      for (const [near, far] of pairs) {
        near.unpipe(far);
        far.unpipe(near);
        // Closes the server's side, as if the server had noticed by itself; the client keeps waiting.
        far.destroy();
      }
    },
    restore() {
      isSilent = false;
      for (const forward of waiting.values()) forward();
      waiting.clear();
    },
  };
}
