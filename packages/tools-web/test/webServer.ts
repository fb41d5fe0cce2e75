import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { type PackHost, registerPack, ToolRegistry } from "@agent/core";
import * as pack from "../src/index.js";

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** A local server that answers by path and records its requests. */
export class WebServer {
  readonly requests: { path: string; headers: IncomingMessage["headers"]; body: string }[] = [];
  readonly #answers = new Map<string, Answer>();
  readonly #server = createServer(this.#listener());

  async listen(address = "127.0.0.1"): Promise<this> {
    await new Promise<void>((listening) => {
      this.#server.listen(0, address, listening);
    });
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  get paths(): string[] {
    return this.requests.map(({ path }) => path);
  }

  url(path: string): string {
    return `http://${this.host}${path}`;
  }

  on(path: string, answer: Answer): this {
    this.#answers.set(path, answer);
    return this;
  }

  page(path: string, type: string, body: string | Buffer, status = 200): this {
    return this.on(path, (response) => response.writeHead(status, { "content-type": type }).end(body));
  }

  redirect(path: string, location: string, status = 302): this {
    return this.on(path, (response) => response.writeHead(status, { location }).end("moved"));
  }

  gzip(path: string, type: string, body: string | Buffer): this {
    const data = gzipSync(body);
    return this.on(path, (response) =>
      response.writeHead(200, { "content-type": type, "content-encoding": "gzip" }).end(data),
    );
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #listener(): RequestListener {
    return (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const path = request.url ?? "";
        this.requests.push({ path, headers: request.headers, body: Buffer.concat(chunks).toString() });
        const answer = this.#answers.get(path) ?? this.#answers.get(path.split("?", 1)[0] ?? "");
        if (answer) answer(response, request);
        else response.writeHead(404, { "content-type": "text/plain" }).end("no such page");
      });
    };
  }
}

/** A registry with the tools of the pack enabled. */
export function webRegistry(options: pack.WebOptions, host: Partial<PackHost> = {}): ToolRegistry {
  const registry = new ToolRegistry();
  const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };
  registerPack(registry, pack, { context, ...host, options });
  registry.enable("web_fetch");
  registry.enable("web_search");
  return registry;
}

/** The text between the two lines with the mark. */
export function dataOf(text: string): string {
  const [, , data] = /\n--- ([0-9a-f]{12})\n([\s\S]*)\n--- \1(?:\n|$)/.exec(text) ?? [];
  if (data === undefined) throw new Error(`no marked data in: ${text}`);
  return data;
}
