import { expect, test } from "vitest";
import { scriptedProvider } from "../providers/replay.js";
import { hostModel, hostModels } from "./models.js";

test("describes a provider by one live object, and the limit of an agent by another", () => {
  const provider = { ...scriptedProvider([]), model: "a", contextTokens: 1000 };
  const model = hostModel(provider);
  expect(model).toMatchObject({ provider: provider.id, id: "a", contextTokens: 1000 });
  expect(hostModel(provider)).toBe(model);
  expect(hostModel(provider, 200)).toMatchObject({ id: "a", contextTokens: 200 });
  expect(hostModel(provider).contextTokens).toBe(1000);
  provider.model = "b";
  expect(model.id).toBe("b");
  expect(Object.isFrozen(model)).toBe(true);
});

test("finds models of the host by name, and refuses what is not a name", async () => {
  const find = hostModels((name) => (name === "fast" ? scriptedProvider([]) : undefined));
  await expect(find("fast")).resolves.toMatchObject({ id: scriptedProvider([]).model });
  await expect(find("slow")).rejects.toThrow('There is no model "slow".');
  await expect(find(7 as never)).rejects.toThrow("name must be a string");
});
