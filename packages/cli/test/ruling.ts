import { type DecideOptions, decideCall, parseRule, type Ruling } from "@agent/core/host";
import { createDefaultToolRegistry } from "@agent/preset-default";
import { onTestFinished } from "vitest";

export interface RulingOptions extends Partial<Omit<DecideOptions, "rules" | "granted">> {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
  readonly granted?: readonly string[];
}

/** The rules' decision about a call of a built-in tool, as the tool itself describes it. Default: auto mode. */
export async function rulingOf(
  name: string,
  args: Record<string, unknown>,
  { allow = [], ask = [], deny = [], granted = [], ...options }: RulingOptions = {},
): Promise<Ruling["type"]> {
  const registry = createDefaultToolRegistry({
    systemPrompt: "",
    sessionContext: [],
    sessionContextFilePath: "",
  });
  onTestFinished(() => registry.dispose());
  registry.enable(name);
  const prepared = await registry.prepare(name, args);
  if ("outcome" in prepared) throw new Error(prepared.text);
  const description = await prepared.describe();
  if (description.refusal !== undefined) throw new Error(description.refusal);
  const parse = (texts: readonly string[]) => texts.map(parseRule);
  const ruling = await decideCall(
    { ...prepared, description: { ...description, needs: [] } },
    {
      tools: registry,
      root: process.cwd(),
      rules: { allow: parse(allow), ask: parse(ask), deny: parse(deny) },
      granted: parse(granted),
      confirm: new Set(),
      mode: "auto",
      ...options,
    },
  );
  return ruling.type;
}
