import { defineTool } from "@agent/core";

/** Greets someone. It touches nothing, so it has no capabilities. */
export const greet = defineTool({
  name: "__PREFIX___greet",
  description: "Greet someone by name.",
  input: {
    type: "object",
    properties: { who: { type: "string", description: "Whom to greet" } },
    required: ["who"],
    additionalProperties: false,
  },
  capabilities: [],
  execute: ({ who }) => `Hello, ${who}!`,
});
