import { defineTool, type ToolPack, type UserQuestion } from "@agent/core";

/** A pack whose tool asks the user for a size, as `ask_user` does, or with a whole form. */
export const asking: ToolPack = {
  packName: "asking",
  register(registry, host) {
    const { ask } = host ?? {};
    if (!ask) return;
    const put = async (question: Omit<UserQuestion, "source" | "signal">, signal: AbortSignal) =>
      JSON.stringify(await ask({ source: "The model", ...question, signal }));
    registry.register(
      defineTool({
        name: "ask_size",
        description: "Asks for a size.",
        input: { type: "object" },
        capabilities: ["read"],
        execute: (_input, { signal }) =>
          put(
            {
              message: "Which size?",
              immediate: true,
              fields: [
                {
                  name: "size",
                  type: "choice",
                  required: true,
                  other: true,
                  options: [{ value: "small" }, { value: "large", title: "Large, of course" }],
                },
              ],
            },
            signal,
          ),
      }),
    );
    registry.register(
      defineTool({
        name: "ask_form",
        description: "Asks for a form.",
        input: { type: "object" },
        capabilities: ["read"],
        execute: (_input, { signal }) =>
          put(
            {
              message: "Whom do we ship to?",
              url: "https://shop.example/terms",
              fields: [
                { name: "name", type: "text", required: true },
                { name: "count", type: "integer", required: true, default: 2 },
                { name: "gift", type: "boolean", required: false },
                {
                  name: "colour",
                  type: "choice",
                  required: false,
                  options: [{ value: "red" }, { value: "blue" }],
                },
              ],
            },
            signal,
          ),
      }),
    );
  },
};
