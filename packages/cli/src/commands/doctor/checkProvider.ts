import { type ChatProvider, type Diagnosis, isAgentError } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { countOf } from "@agent/internal";
import { formatDuration } from "@agent/terminal/host";
import { type ChosenProvider, chooseFallback, chooseMain } from "../../assembly/provider/choose.js";
import type { LoadedSettings } from "../../settings/loadSettings.js";

const LIMIT_MS = 30_000;
const QUESTION = "Answer with the word OK and nothing else.";

/** A finding about the provider. One that is not needed only earns a warning: the command works without it. */
export interface ProviderDiagnosis extends Diagnosis {
  readonly isOptional?: boolean;
}

/**
 * Asks the server for its models and the model for one word: only an answer proves that key, address and model work. A
 * fallback is tested separately: it would hide a failure of the first model.
 */
export async function checkProvider({
  settings,
  keys,
  projectFile,
}: LoadedSettings): Promise<ProviderDiagnosis[]> {
  const options = { keys, projectFile };
  const main = await choose("provider", () => chooseMain(settings, options));
  if ("ok" in main) return [main];
  if (main.kind === "offline") {
    const [detail = "", ...hint] = main.description.split(/(?<=\.) /);
    const isChosen = settings.provider === "offline";
    return [{ subject: "provider", ok: isChosen, isOptional: true, detail, hint: hint.join(" ") }];
  }
  const fallback = await choose("fallback", () => chooseFallback(main, settings, options));
  const found = await checkChosen("provider", "models", main);
  if (!fallback) return found;
  return [
    ...found,
    ...("ok" in fallback ? [fallback] : await checkChosen("fallback", "models of the fallback", fallback)),
  ];
}

/** The choice, or why there is none. */
async function choose<Chosen>(subject: string, choice: () => Promise<Chosen>): Promise<Chosen | Diagnosis> {
  try {
    return await choice();
  } catch (error) {
    return { subject, ok: false, detail: errorMessage(error) };
  }
}

async function checkChosen(subject: string, listed: string, chosen: ChosenProvider): Promise<Diagnosis[]> {
  const models = chosen.listModels && (await checkModels(listed, chosen));
  return [await checkAnswer(subject, chosen), ...(models ? [models] : [])];
}

async function checkAnswer(subject: string, { provider, description }: ChosenProvider): Promise<Diagnosis> {
  const started = performance.now();
  try {
    await askOneWord(provider);
    const time = formatDuration(performance.now() - started);
    return { subject, ok: true, detail: `${description}, answered in ${time}` };
  } catch (error) {
    const detail = `${description}: ${reasonOf(error)}`;
    return {
      subject,
      ok: false,
      detail,
      hint: "Check the key, the model's name and the address.",
    };
  }
}

async function askOneWord(provider: ChatProvider): Promise<void> {
  await provider.respond({
    messages: [{ role: "user", content: QUESTION }],
    tools: [],
    signal: AbortSignal.timeout(LIMIT_MS),
  });
}

/** Checks the list of models. A server without one is not a failure: many answer anyway. */
async function checkModels(
  subject: string,
  { listModels, model }: ChosenProvider,
): Promise<Diagnosis | undefined> {
  try {
    const models = (await listModels?.(AbortSignal.timeout(LIMIT_MS))) ?? [];
    if (models.length === 0) return undefined;
    const ok = models.some(({ id }) => id === model || model.endsWith(`/${id}`));
    return {
      subject,
      ok,
      detail: ok
        ? `${countOf(models.length, "model")} listed, ${model} among them`
        : `the server lists ${countOf(models.length, "model")}, and ${model} is not among them`,
      hint: "See them with: agent models",
    };
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  if (isAgentError(error, "aborted") || (error instanceof Error && error.name === "TimeoutError")) {
    return `no answer within ${LIMIT_MS / 1000} seconds.`;
  }
  return errorMessage(error);
}
