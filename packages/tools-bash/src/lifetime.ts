import { environmentHolds, listPids } from "./processTable.js";
import type { ProcessTree } from "./tree.js";
import { Watchdog } from "./watchdog.js";

const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
// Handlers stay a moment longer than the last command: taking them down and up costs more than a short one.
const LINGER_MS = 500;

const alive = new Set<ProcessTree>();
let watchdog: Watchdog | undefined;
let commands = 0;
let listening = false;

/**
 * What the marks of all commands of this agent begin with; no other process on the machine carries it. It is
 * a name, not a secret, so no cryptography has to be loaded for it.
 */
export const instanceMark = `${process.pid}-${Math.random().toString(36).slice(2)}${Date.now().toString(36)}.`;

/**
 * The mark for the next command. From now on a signal that ends the agent ends what carries the mark, too:
 * a command may be running before its tree is known here.
 */
export function nextMark(): string {
  if (commands === 0) process.on("exit", endEverything);
  commands++;
  listen();
  return `${instanceMark}${commands};`;
}

/** From now on the tree ends with the agent, also when a signal ends the agent. */
export function bindToAgent(tree: ProcessTree): void {
  listen();
  alive.add(tree);
  watchdog?.update(groups());
}

export function release(tree: ProcessTree): void {
  if (!alive.delete(tree)) return;
  tree.dispose();
  if (alive.size > 0) {
    watchdog?.update(groups());
    return;
  }
  watchdog?.dismiss();
  watchdog = undefined;
  const last = commands;
  setTimeout(() => {
    // A command that started meanwhile takes the handlers down itself.
    if (commands === last) stopListening();
  }, LINGER_MS).unref();
}

function listen(): void {
  if (listening) return;
  listening = true;
  for (const signal of ENDING_SIGNALS) process.on(signal, onSignal);
}

function stopListening(): void {
  if (alive.size > 0 || !listening) return;
  listening = false;
  for (const signal of ENDING_SIGNALS) process.off(signal, onSignal);
}

/**
 * From now on what is bound also ends when the agent is killed outright. Costs a small process while it
 * lasts, so it is for commands that run for a while.
 */
export function guardAgainstKill(): void {
  if (alive.size > 0) watchdog ??= new Watchdog(instanceMark, groups());
}

function groups(): number[] {
  return [...alive].map((tree) => tree.root);
}

function onSignal(signal: NodeJS.Signals): void {
  // Someone else listens too: then it is theirs to say whether the agent ends, and "exit" comes if it does.
  if (process.listenerCount(signal) > 1) return;
  endEverything();
  process.off(signal, onSignal);
  process.kill(process.pid, signal);
}

function endEverything(): void {
  for (const tree of alive) tree.kill();
  // What left its tree unseen still carries the mark.
  for (const pid of listPids()) {
    if (pid !== process.pid && environmentHolds(pid, instanceMark)) endProcess(pid);
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}
