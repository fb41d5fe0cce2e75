import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { AgentError, type ChatMessage, type ChatProvider, type ChatRequest, wrapProvider } from "@agent/core";
import { recordProvider, replayProvider } from "@agent/core/replay";
import { errorMessage, writeFileAtomic } from "@agent/core/toolkit";
import type { EvalCase, EvalWorkspace } from "./defineEval.js";

// Placeholders for what differs from run to run: the directory, and the values of `setup`.
const WORKSPACE = "/agent-eval-workspace";
const VALUE = "agent-eval-value-";

const RECORDING = /^([a-z0-9-]+)\.([a-z0-9-]+)\.[0-9]+\.json$/;

const WHOLE = Symbol("the request as the agent made it");
type MarkedRequest = ChatRequest & { readonly [WHOLE]?: ChatRequest };

/** A name as a part of a file name. */
export function slug(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 80);
}

/** The recordings of one case with one model: `fixes-a-typo.openai-gpt-5.1.json`, `….2.json`. */
export class Recordings {
  readonly #directory: string;
  readonly #prefix: string;

  constructor(directory: string, caseName: string, model: string) {
    this.#directory = directory;
    this.#prefix = `${slug(caseName)}.${slug(model)}`;
  }

  file(run: number): string {
    return join(this.#directory, `${this.#prefix}.${run}.json`);
  }

  /** How many runs are recorded. */
  async count(): Promise<number> {
    const names = new Set(await readdir(this.#directory).catch(() => []));
    let count = 0;
    while (names.has(`${this.#prefix}.${count + 1}.json`)) count++;
    return count;
  }

  /** Stores the recording of a run. */
  async keep(run: number, scratch: string, workspace: EvalWorkspace): Promise<void> {
    const text = await readFile(scratch, "utf8");
    await mkdir(this.#directory, { recursive: true });
    await writeFileAtomic(this.file(run), replaceTexts(text, placeholders(workspace)));
  }

  /** Removes the recordings after the last run of a new series. */
  async dropAfter(run: number): Promise<void> {
    for (let next = run + 1, last = await this.count(); next <= last; next++) await rm(this.file(next));
  }

  /** Writes a recording for this workspace to `scratch` and answers from it. */
  async replay(run: number, scratch: string, workspace: EvalWorkspace): Promise<ChatProvider> {
    const file = this.file(run);
    const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
      const reason = error.code === "ENOENT" ? "Record it first." : errorMessage(error);
      throw new AgentError("replay_mismatch", `There is no recording ${file}. ${reason}`);
    });
    const values = placeholders(workspace).map(([value, placeholder]) => [placeholder, value] as const);
    await writeFileAtomic(scratch, replaceTexts(text, values));
    return wrapProvider(replayProvider(scratch), (request, ask) => ask(conversationOnly(request)));
  }
}

/** The models of these cases' recordings, by their names in the files. */
export async function recordedModels(directory: string, cases: readonly EvalCase[]): Promise<string[]> {
  const names = new Set(cases.map(({ name }) => slug(name)));
  const files = await readdir(directory).catch(() => []);
  const models = files.flatMap((file) => {
    const [, name = "", model = ""] = RECORDING.exec(file) ?? [];
    return names.has(name) ? [model] : [];
  });
  return [...new Set(models)].sort();
}

/** A provider that records the conversation to `scratch`. */
export function recording(provider: ChatProvider, scratch: string): ChatProvider {
  const inner = wrapProvider(provider, (request: MarkedRequest, ask) => {
    const { [WHOLE]: whole, ...rest } = request;
    return ask(whole ? { ...rest, messages: whole.messages, tools: whole.tools } : rest);
  });
  const recorder = recordProvider(inner, scratch);
  return wrapProvider(recorder, (request, ask) => {
    const marked: MarkedRequest = { ...conversationOnly(request), [WHOLE]: request };
    return ask(marked);
  });
}

/**
 * The request without system prompt and tools. A recording shows what a model did, so a changed prompt or a new tool
 * does not invalidate it; another task does.
 */
function conversationOnly(request: ChatRequest): ChatRequest {
  const isConversation = ({ role }: ChatMessage): boolean => role !== "system";
  return { ...request, messages: request.messages.filter(isConversation), tools: [] };
}

/** The replacements in a recording. Longest first: a value may contain another. */
function placeholders({ path, values }: EvalWorkspace): (readonly [string, string])[] {
  const pairs = Object.entries(values).map(([name, value]) => [value, `${VALUE}${name}`] as const);
  return [...pairs, [path, WORKSPACE] as const].sort(([a], [b]) => b.length - a.length);
}

/** Replaces texts in JSON, including the arguments of calls, which are JSON inside of JSON. */
function replaceTexts(json: string, pairs: readonly (readonly [string, string])[]): string {
  const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
  return pairs.reduce(
    (text, [from, to]) =>
      text.replaceAll(escaped(escaped(from)), escaped(escaped(to))).replaceAll(escaped(from), escaped(to)),
    json,
  );
}
