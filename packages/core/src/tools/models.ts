import { errorMessage, quote } from "@agent/internal";
import { AgentError } from "../errors.js";
import type { ChatProvider } from "../providers/interface.js";
import { checkText } from "../toolkit/hostOptions/checks.js";
import type { HostModel } from "./pack.js";

/** Resolves a model name. `undefined`, or a rejection, if there is no such model. */
export type ResolveModel = (name: string) => ChatProvider | undefined | Promise<ChatProvider | undefined>;

/** Throws `invalid_argument`, naming the model, if the host has none of that name. */
export async function resolveProvider(
  name: string,
  resolve: ResolveModel | undefined,
): Promise<ChatProvider> {
  if (!resolve) {
    throw new AgentError(
      "invalid_argument",
      `The model ${quote(name)} cannot be used: this program offers only its own model. Leave out the model, or pass resolveModel to the Agent.`,
    );
  }
  let provider: unknown;
  try {
    provider = await resolve(name);
  } catch (error) {
    throw new AgentError(
      "invalid_argument",
      `The model ${quote(name)} cannot be used: ${errorMessage(error)}`,
      {
        cause: error,
      },
    );
  }
  if (typeof (provider as Partial<ChatProvider> | undefined)?.respond === "function")
    return provider as ChatProvider;
  throw new AgentError(
    "invalid_argument",
    `There is no model ${quote(name)}. Leave out the model to use the same one.`,
  );
}

/** The model as exposed to packs: read on access, since a provider may switch models. */
export function hostModel(provider: ChatProvider, contextTokens?: number): HostModel {
  if (contextTokens !== undefined) return liveModel(provider, contextTokens);
  const model = liveModels.get(provider) ?? liveModel(provider);
  liveModels.set(provider, model);
  return model;
}

// A program may hold thousands of idle agents with one provider.
const liveModels = new WeakMap<ChatProvider, HostModel>();

function liveModel(provider: ChatProvider, contextTokens?: number): HostModel {
  return Object.freeze({
    get provider() {
      return provider.id;
    },
    get id() {
      return provider.model;
    },
    get contextTokens() {
      return contextTokens ?? provider.contextTokens;
    },
  });
}

/** Resolves model names for packs. */
export function hostModels(resolve: ResolveModel): (name: string) => Promise<HostModel> {
  return async (name) => {
    checkText("name", name);
    return hostModel(await resolveProvider(name, resolve));
  };
}
