import type * as childProcess from "node:child_process";
import type * as net from "node:net";

// Importing these two costs a program more than all the rest of the pack, and it may never run a command.
// `getBuiltinModule` loads them when they are first needed, synchronously, also inside a bundle.

/** `spawn` of `node:child_process`. */
export const spawn: typeof childProcess.spawn = ((...args: Parameters<typeof childProcess.spawn>) =>
  process.getBuiltinModule("node:child_process").spawn(...args)) as typeof childProcess.spawn;

/** A new `Socket` of `node:net`. Where `onread` should not be known, the stream emits "data" by itself. */
export function createSocket(
  options: net.SocketConstructorOpts & { readonly onread?: net.OnReadOpts },
): net.Socket {
  return new (process.getBuiltinModule("node:net").Socket)(options);
}
