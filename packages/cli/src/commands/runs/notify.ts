import { spawn } from "node:child_process";
import { createHmac, randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { errorMessage } from "@agent/core/toolkit";
import type { ClaimEnding, Run, RunState } from "@agent/durable";
import { killWindowsTree } from "@agent/internal";
import { CliError } from "../../process/errors.js";

export interface NotifyFlags {
  readonly notifyWebhook?: string;
  readonly notifyCommand?: string;
  readonly notifyOn?: string;
}

const ATTEMPTS = 3;
const RETRY_MS = 1000;
const TIMEOUT_MS = 10_000;
const STATES: readonly RunState[] = ["waiting", "failed", "done", "cancelled"];

/** Notifies a webhook or a command about runs that wait for a decision or have finished. */
export interface Notifier {
  readonly tell: (run: Run, ending: ClaimEnding) => void;
  /** Resolves when all notifications are delivered or abandoned. */
  settled(): Promise<void>;
}

/** Throws `CliError` for invalid flags. `undefined` if no notification is configured. */
export function createNotifier(flags: NotifyFlags, onFault: (message: string) => void): Notifier | undefined {
  const { notifyWebhook = process.env.AGENT_RUNS_WEBHOOK || undefined, notifyCommand: command } = flags;
  const states = parseStates(flags.notifyOn ?? "waiting,failed");
  const webhook = notifyWebhook === undefined ? undefined : openWebhook(notifyWebhook);
  if (webhook === undefined && command === undefined) {
    if (flags.notifyOn !== undefined)
      throw new CliError("--notify-on needs --notify-webhook or --notify-command.");
    return undefined;
  }
  const open = new Set<Promise<void>>();
  const begin = (what: string, attempt: () => Promise<void>): void => {
    const sending: Promise<void> = repeat(attempt)
      .catch((error: unknown) => onFault(`${what} failed: ${errorMessage(error)}`))
      .finally(() => open.delete(sending));
    open.add(sending);
  };
  return {
    tell: (run, ending) => {
      const isTold = states.has(ending.state) && !("pause" in ending);
      if (!isTold) return;
      const body = JSON.stringify(messageOf(run, ending));
      const id = randomUUID();
      if (webhook !== undefined) begin("The webhook", () => post(webhook, id, body));
      if (command !== undefined) begin("The command of --notify-command", () => execute(command, body));
    },
    settled: async () => {
      await Promise.all(open);
    },
  };
}

function parseStates(text: string): ReadonlySet<RunState> {
  const states = text.split(",").map((one) => one.trim());
  const unknown = states.find((one) => !STATES.includes(one as RunState));
  if (unknown === undefined) return new Set(states as RunState[]);
  throw new CliError(`--notify-on takes ${STATES.join(", ")}, separated by commas, got "${unknown}".`);
}

/**
 * The message. It contains neither arguments of calls nor titles derived from them, such as a command, which may
 * contain secrets: they are on the page, and in `agent runs show`.
 */
function messageOf({ id, title, tenant, labels }: Run, ending: ClaimEnding): unknown {
  const approvals = "approvals" in ending ? ending.approvals : [];
  return {
    v: 1,
    type: "run",
    run: { id, ...(title !== undefined && { title }), tenant, labels },
    state: ending.state,
    ...(approvals.length > 0 && {
      approvals: approvals.map(({ key, name }) => ({ key, name })),
    }),
    ...("error" in ending && { error: ending.error }),
  };
}

async function repeat(attempt: () => Promise<void>): Promise<void> {
  for (let number = 1; ; number++) {
    try {
      return await attempt();
    } catch (error) {
      if (number === ATTEMPTS) throw error;
      await sleep(RETRY_MS * number);
    }
  }
}

interface Webhook {
  readonly address: string;
  /** The key for signatures. */
  readonly key: Buffer | undefined;
}

/** Throws `CliError` for an invalid address or secret. */
function openWebhook(address: string): Webhook {
  const url = URL.canParse(address) && /^https?:/.test(address) ? new URL(address) : undefined;
  // The address is not shown: it may contain a key.
  if (url === undefined || url.username !== "" || url.password !== "") {
    throw new CliError(
      "--notify-webhook or $AGENT_RUNS_WEBHOOK must be an http(s) address without user and password, such as https://hooks.example/runs.",
    );
  }
  const secret = process.env.AGENT_RUNS_WEBHOOK_SECRET;
  if (!secret) return { address, key: undefined };
  const [, base64] = SECRET.exec(secret) ?? [];
  if (base64 !== undefined) return { address, key: Buffer.from(base64, "base64") };
  throw new CliError(
    "$AGENT_RUNS_WEBHOOK_SECRET must be whsec_ and 24 to 64 bytes in Base64. Make one: echo whsec_$(openssl rand -base64 32)",
  );
}

// 24 to 64 bytes.
const SECRET = /^whsec_([A-Za-z\d+/]{32,86}={0,2})$/;

/** Sends a message with the headers of https://www.standardwebhooks.com: its id is the same in each attempt. */
async function post({ address, key }: Webhook, id: string, body: string): Promise<void> {
  const at = Math.floor(Date.now() / 1000);
  const signature = key && createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64");
  const response = await fetch(address, {
    method: "POST",
    // Only the address that was configured gets the message.
    redirect: "manual",
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(at),
      ...(signature !== undefined && { "webhook-signature": `v1,${signature}` }),
    },
    body,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`it answered ${response.status}.`);
}

/**
 * Runs a command with the message on its standard input. One that takes too long is killed with everything it started.
 */
export async function execute(command: string, body: string): Promise<void> {
  const isWindows = process.platform === "win32";
  // Its own process group: the shell may have started processes that would outlive it.
  const child = spawn(command, { shell: true, stdio: ["pipe", "ignore", "inherit"], detached: !isWindows });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    if (child.pid === undefined) child.kill("SIGKILL");
    else if (isWindows) void killWindowsTree(child.pid);
    else killGroup(child.pid);
  }, TIMEOUT_MS);
  try {
    // A command that does not read its input closes the pipe.
    child.stdin.on("error", () => undefined).end(body);
    const [code, signal] = await once(child, "close");
    if (isLate) throw new Error(`it took longer than ${TIMEOUT_MS / 1000} seconds and was killed.`);
    if (code !== 0)
      throw new Error(code === null ? `it was killed by ${signal}.` : `it ended with exit code ${code}.`);
  } finally {
    clearTimeout(timer);
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // No process of the group is left.
  }
}
