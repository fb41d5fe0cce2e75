import type { StandardSchema } from "../toolkit/jsonSchema/standardSchema.js";

/**
 * A type for the `context` of an agent and its tools, where there is no schema that checks it: a connection, an object of
 * the program's own classes.
 *
 * @example
 * ```ts
 * import { Agent, contextType, defineTool } from "@agent/core";
 * import { scriptedProvider } from "@agent/core/replay";
 *
 * const context = contextType<{ readonly user: string }>();
 * const whoami = defineTool({
 *   name: "whoami",
 *   description: "Says who asks.",
 *   context,
 *   input: { type: "object" },
 *   execute: (_input, call) => call.context.user,
 * });
 * const agent = new Agent(scriptedProvider(["Hello."]), { tools: [whoami], context });
 * await agent.chat("Hi.", { context: { user: "ann" } });
 * ```
 */
export function contextType<Context>(): StandardSchema<Context> {
  return {
    "~standard": { version: 1, vendor: "@agent/core", validate: (value) => ({ value: value as Context }) },
  };
}

/** Options whose `context` may be left out only if the agent declares no type for it. */
export type WithContext<Options, Context> = unknown extends Context
  ? [options?: Options & { readonly context?: Context }]
  : [options: Options & { readonly context: Context }];
