import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import type { Sandbox } from "./agent.js";

export interface AcpMessage {
  readonly id?: unknown;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any message
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any message
  readonly result?: any;
  readonly error?: { readonly message: string };
}

export interface AcpClientOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly capabilities?: object;
  /** Answers the agent's requests, such as those for permission. */
  readonly answer?: (message: AcpMessage) => unknown;
}

/** An editor that runs the built `agent acp` as its child and speaks with it in lines. */
export class AcpClient {
  readonly child: ChildProcessWithoutNullStreams;
  readonly messages: AcpMessage[] = [];
  /** Lines on standard output that are not messages. */
  readonly noise: string[] = [];
  stderr = "";
  readonly #waiting = new Map<unknown, (message: AcpMessage) => void>();
  readonly #options: AcpClientOptions;
  #count = 0;

  constructor(sandbox: Sandbox, options: AcpClientOptions = {}) {
    this.#options = options;
    this.child = sandbox.start(["acp", ...(options.args ?? [])], {
      ...(options.env && { env: options.env }),
      ...(options.cwd !== undefined && { cwd: options.cwd }),
    });
    this.child.stderr.on("data", (chunk: Buffer) => {
      this.stderr += chunk.toString();
    });
    this.child.stdin.on("error", () => undefined);
    createInterface({ input: this.child.stdout }).on("line", (line) => void this.#receive(line));
    onTestFinished(() => void this.child.kill("SIGKILL"));
  }

  static async start(sandbox: Sandbox, options: AcpClientOptions = {}): Promise<AcpClient> {
    const client = new AcpClient(sandbox, options);
    const clientCapabilities = options.capabilities ?? {};
    await client.ask("initialize", { protocolVersion: 1, clientCapabilities });
    return client;
  }

  async ask(method: string, params: object): Promise<AcpMessage> {
    const id = ++this.#count;
    const answered = new Promise<AcpMessage>((resolve) => this.#waiting.set(id, resolve));
    this.send({ id, method, params });
    return await answered;
  }

  send(message: object): void {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  async open(cwd: string, more: object = {}): Promise<string> {
    const { result, error } = await this.ask("session/new", { cwd, mcpServers: [], ...more });
    if (error) throw new Error(error.message);
    return result.sessionId;
  }

  async prompt(sessionId: string, text: string): Promise<AcpMessage> {
    return await this.ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** The updates of a session, or of all. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any update
  updates(kind: string, sessionId?: string): any[] {
    return this.messages
      .filter(({ method, params }) =>
        method === "session/update" && sessionId !== undefined
          ? params.sessionId === sessionId
          : method === "session/update",
      )
      .map(({ params }) => params.update)
      .filter(({ sessionUpdate }) => sessionUpdate === kind);
  }

  /** The text of all agent messages. */
  said(sessionId?: string): string {
    return this.updates("agent_message_chunk", sessionId)
      .map(({ content }) => content.text)
      .join("");
  }

  /** Waits for a message that has arrived or will arrive. */
  async until(matches: (message: AcpMessage) => boolean): Promise<AcpMessage> {
    for (;;) {
      const found = this.messages.find(matches);
      if (found) return found;
      await once(this.child.stdout, "data");
      await new Promise(setImmediate);
    }
  }

  /** Disconnects the editor. Resolves to the exit code. */
  async end(): Promise<number | null> {
    const exited = this.child.exitCode === null ? once(this.child, "exit") : [this.child.exitCode];
    this.child.stdin.end();
    return (await exited)[0] as number | null;
  }

  async #receive(line: string): Promise<void> {
    let message: AcpMessage;
    try {
      message = JSON.parse(line);
    } catch {
      this.noise.push(line);
      return;
    }
    this.messages.push(message);
    if (message.method === undefined) {
      this.#waiting.get(message.id)?.(message);
      return;
    }
    if (message.id === undefined) return;
    const result = await this.#options.answer?.(message);
    if (result !== undefined) this.send({ id: message.id, result });
  }
}
