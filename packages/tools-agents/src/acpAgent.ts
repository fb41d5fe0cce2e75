import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { errorMessage, isRecord, killWindowsTree, onAbort, startableProgram } from "@agent/core/toolkit";

const PROTOCOL_VERSION = 1;
const METHOD_NOT_FOUND = -32601;
const KILL_AFTER_MS = 2000;
const MAX_LINE = 4 * 1024 * 1024;
const MAX_TEXT = 1024 * 1024;
const MAX_STDERR = 2000;

/** A permission request of another program's agent: a call of one of its own tools. */
export interface ForeignCall {
  readonly title: string;
  readonly kind: string;
  readonly paths: readonly string[];
  readonly input: unknown;
}

export interface AcpRun {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly directory: string;
  readonly task: string;
  readonly signal: AbortSignal;
  /** Called with each step that the agent reports. */
  readonly onStep: (text: string) => void;
  /** Whether the agent may do this. */
  readonly permit: (call: ForeignCall) => Promise<boolean>;
  readonly onProcess: (pid: number) => void;
}

/** Runs another program's agent for one task, over the Agent Client Protocol. Rejects if it fails or is aborted. */
export async function runAcpAgent(
  run: AcpRun,
): Promise<{ readonly text: string; readonly stopReason: string }> {
  const connection = new Connection(run);
  const release = onAbort(run.signal, () => connection.end(new Error("aborted")));
  try {
    const { protocolVersion } = await connection.ask("initialize", {
      protocolVersion: PROTOCOL_VERSION,
      // It uses its own tools, and asks before it does.
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    });
    if (protocolVersion !== PROTOCOL_VERSION) {
      throw new Error(
        `it speaks version ${String(protocolVersion)} of the protocol, not ${PROTOCOL_VERSION}`,
      );
    }
    const { sessionId } = await connection.ask("session/new", { cwd: run.directory, mcpServers: [] });
    if (typeof sessionId !== "string") throw new Error("it opened no session");
    const prompt = [{ type: "text", text: run.task }];
    const { stopReason } = await connection.ask("session/prompt", { sessionId, prompt });
    return { text: connection.text, stopReason: String(stopReason) };
  } finally {
    release();
    connection.end(new Error("the agent was stopped"));
  }
}

/** A program and the messages we exchange with it, one line of JSON each. */
class Connection {
  readonly #run: AcpRun;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<
    number,
    { resolve: (result: Record<string, unknown>) => void; reject: (error: Error) => void }
  >();
  #count = 0;
  #failure: Error | undefined;
  #stderr = "";
  text = "";

  constructor(run: AcpRun) {
    this.#run = run;
    const [program = "", ...args] = run.command;
    const start = startableProgram(program, args, { env: run.env, cwd: run.directory });
    const child = spawn(start.file, start.args, {
      ...start.options,
      cwd: run.directory,
      env: run.env,
      stdio: ["pipe", "pipe", "pipe"],
      // Its own process group, so that its children are killed with it.
      detached: process.platform !== "win32",
    });
    this.#child = child;
    if (child.pid !== undefined) run.onProcess(child.pid);
    child.on("error", (error) => this.end(new Error(`${program} cannot be started: ${error.message}`)));
    child.on("exit", (code, signal) => {
      const said = this.#stderr.trim();
      this.end(new Error(`${program} ended with ${code ?? signal}${said === "" ? "" : `: ${said}`}`));
    });
    child.stdin?.on("error", () => undefined);
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-MAX_STDERR);
    });
    if (child.stdout) {
      let unread = 0;
      child.stdout.on("data", (chunk: Buffer) => {
        unread = chunk.includes(10) ? 0 : unread + chunk.length;
        if (unread > MAX_LINE) this.end(new Error("it wrote a line that is too long"));
      });
      createInterface({ input: child.stdout }).on("line", (line) => this.#receive(line));
    }
  }

  async ask(method: string, params: object): Promise<Record<string, unknown>> {
    if (this.#failure) throw this.#failure;
    const id = ++this.#count;
    return await new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ jsonrpc: "2.0", id, method, params });
    });
  }

  /** Stops the program and everything it started. */
  end(reason: Error): void {
    if (this.#failure) return;
    this.#failure = reason;
    for (const { reject } of this.#waiting.values()) reject(reason);
    this.#waiting.clear();
    this.#kill("SIGTERM");
    setTimeout(() => this.#kill("SIGKILL"), KILL_AFTER_MS).unref();
  }

  #kill(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    if (process.platform === "win32") {
      if (this.#child.exitCode === null) void killWindowsTree(pid);
      return;
    }
    try {
      process.kill(-pid, signal);
    } catch {
      // The process group has exited.
    }
  }

  #send(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  #receive(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    if (!isRecord(message)) return;
    const { id, method } = message;
    const params = isRecord(message.params) ? message.params : {};
    if (typeof method !== "string") this.#settle(id, message);
    else if (id === undefined) this.#notice(method, params);
    else void this.#answer(id, method, params);
  }

  #settle(id: unknown, { result, error }: Readonly<Record<string, unknown>>): void {
    const waiting = typeof id === "number" ? this.#waiting.get(id) : undefined;
    if (!waiting) return;
    this.#waiting.delete(id as number);
    if (isRecord(error)) waiting.reject(new Error(`it answered with an error: ${String(error.message)}`));
    else waiting.resolve(isRecord(result) ? result : {});
  }

  #notice(method: string, { update }: Readonly<Record<string, unknown>>): void {
    if (method !== "session/update" || !isRecord(update)) return;
    const { sessionUpdate, content, title } = update;
    if (sessionUpdate === "agent_message_chunk" && isRecord(content) && typeof content.text === "string") {
      if (this.text.length < MAX_TEXT) this.text += content.text;
    } else if (sessionUpdate === "tool_call") {
      // The last text is the answer: text before a call was intermediate.
      this.text = "";
      this.#run.onStep(String(title ?? "a tool"));
    }
  }

  async #answer(id: unknown, method: string, params: Readonly<Record<string, unknown>>): Promise<void> {
    if (method !== "session/request_permission") {
      this.#send({
        jsonrpc: "2.0",
        id,
        error: { code: METHOD_NOT_FOUND, message: `${method} is not supported` },
      });
      return;
    }
    const options = Array.isArray(params.options) ? params.options.filter(isRecord) : [];
    let isAllowed = false;
    try {
      isAllowed = await this.#run.permit(foreignCall(params.toolCall));
    } catch (error) {
      this.end(new Error(errorMessage(error)));
      return;
    }
    // Never "always": approvals for later calls are decided here, not in the other program.
    const wanted = isAllowed ? "allow_once" : "reject_once";
    const option = options.find(({ kind }) => kind === wanted);
    const outcome = option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" };
    this.#send({ jsonrpc: "2.0", id, result: { outcome } });
  }
}

function foreignCall(toolCall: unknown): ForeignCall {
  const { title, kind, locations, rawInput } = isRecord(toolCall) ? toolCall : {};
  const places = Array.isArray(locations) ? locations.filter(isRecord) : [];
  return {
    title: typeof title === "string" ? title : "a call",
    kind: typeof kind === "string" ? kind : "other",
    paths: places.flatMap(({ path }) => (typeof path === "string" ? [path] : [])),
    input: rawInput,
  };
}
