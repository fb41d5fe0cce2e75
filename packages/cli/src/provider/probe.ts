import { get } from "node:http";

const MAX_WAIT_MS = 300;
const MAX_ANSWER_BYTES = 256 * 1024;

/** Where local model servers listen unless told otherwise. */
const SERVERS: readonly { readonly name: string; readonly port: number }[] = [
  { name: "Ollama", port: 11434 },
  { name: "llama.cpp", port: 8080 },
  { name: "LM Studio", port: 1234 },
  { name: "vLLM", port: 8000 },
];

/** An OpenAI-compatible server that answered on this machine, and the first model it offers. */
export interface LocalServer {
  readonly name: string;
  readonly baseURL: string;
  readonly model: string;
}

/**
 * Looks for a local model server on loopback, all ports at once, and waits at most 300 ms. The first in the list
 * wins, not the fastest, so that two runs choose the same one. `AGENT_LOCAL_PORTS` replaces the ports; set and
 * empty, nothing is probed.
 */
export async function findLocalServer(
  env: Readonly<Record<string, string | undefined>>,
): Promise<LocalServer | undefined> {
  const found = await Promise.all(servers(env.AGENT_LOCAL_PORTS).map(probe));
  return found.find((server) => server !== undefined);
}

function servers(ports: string | undefined): typeof SERVERS {
  if (ports === undefined) return SERVERS;
  return ports
    .split(/[\s,]+/)
    .filter((port) => /^\d+$/.test(port))
    .map(
      (port) =>
        SERVERS.find((known) => known.port === Number(port)) ?? { name: "local server", port: Number(port) },
    );
}

function probe({ name, port }: { name: string; port: number }): Promise<LocalServer | undefined> {
  const baseURL = `http://127.0.0.1:${port}/v1`;
  return new Promise((resolve) => {
    const finish = (model?: string): void => {
      clearTimeout(timer);
      request.destroy();
      resolve(model === undefined ? undefined : { name, baseURL, model });
    };
    const timer = setTimeout(finish, MAX_WAIT_MS);
    const request = get(`${baseURL}/models`, { agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("error", () => finish());
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > MAX_ANSWER_BYTES) finish();
      });
      response.on("end", () => finish(response.statusCode === 200 ? firstModel(text) : undefined));
    });
    request.on("error", () => finish());
  });
}

/** Something else may listen there: only the answer of a model server counts. */
function firstModel(text: string): string | undefined {
  try {
    const id: unknown = JSON.parse(text)?.data?.[0]?.id;
    return typeof id === "string" && id !== "" ? id : undefined;
  } catch {
    return undefined;
  }
}
