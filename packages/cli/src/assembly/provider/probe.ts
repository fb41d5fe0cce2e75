const MAX_WAIT_MS = 300;
const MAX_ANSWER_BYTES = 256 * 1024;

/** An OpenAI-compatible server that answered on this machine, and the first model it offers. */
export interface ProbedServer {
  readonly name: string;
  readonly port: number;
  readonly baseURL: string;
  readonly model: string;
}

/** Asks a port of loopback which models it offers; `undefined` if it is no model server or silent for 300 ms. */
export async function probeServer({
  name,
  port,
}: {
  readonly name: string;
  readonly port: number;
}): Promise<ProbedServer | undefined> {
  const baseURL = `http://127.0.0.1:${port}/v1`;
  // Loaded only if a server listens, so that the first prompt does not wait for it.
  const { get } = await import("node:http");
  return await new Promise((resolve) => {
    const finish = (model?: string): void => {
      clearTimeout(timer);
      request.destroy();
      resolve(model === undefined ? undefined : { name, port, baseURL, model });
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

/** The first model in the answer; `undefined` if something other than a model server answered. */
function firstModel(text: string): string | undefined {
  try {
    const id: unknown = JSON.parse(text)?.data?.[0]?.id;
    return typeof id === "string" && id !== "" ? id : undefined;
  } catch {
    return undefined;
  }
}
