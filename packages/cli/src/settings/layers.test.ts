import { expect, test } from "vitest";
import { type ConfigLayer, mergeLayers } from "./layers.js";

const layer = (origin: string, config: ConfigLayer["config"], tools?: readonly string[]): ConfigLayer => ({
  origin,
  config,
  ...(tools && { tools }),
});

test("lets later layers win, and reports the origin of each value", () => {
  const settings = mergeLayers(
    [layer("user", { model: "a", maxTurns: 5 }), layer("project", { model: "b" })],
    [layer("--model", { model: "c" })],
  );
  expect(settings).toMatchObject({
    model: "c",
    maxTurns: 5,
    origins: { model: "--model", maxTurns: "user" },
  });
});

test("adds up what must be confirmed, and lets no layer lift read-only", () => {
  const settings = mergeLayers(
    [
      layer("user", { confirm: ["move"], readOnly: true }),
      layer("project", { confirm: ["remove"], readOnly: false }),
    ],
    [],
  );
  expect(settings.confirm.flatMap(({ names }) => names)).toEqual(["move", "remove"]);
  expect(settings.readOnly).toBe(true);
});

test("counts a model inside a layer's provider as that layer's model", () => {
  const settings = mergeLayers(
    [layer("user", { model: "a" }), layer("project", { provider: { model: "b" } })],
    [],
  );
  expect(settings).toMatchObject({ model: "b", origins: { model: "project" } });
});

test("places an agent after the files and before the flags", () => {
  const files = [
    layer("project", { enable: ["remove"], agents: { r: { tools: ["read_file"], model: "m" } } }),
  ];
  const settings = mergeLayers(files, [layer("--tools", {}, ["-*", "move"])], "r");
  expect(settings.model).toBe("m");
  expect(settings.switches.map(({ action, names }) => [action, ...names])).toEqual([
    ["enable", "remove"],
    ["only", "read_file"],
    ["disable", "*"],
    ["enable", "move"],
  ]);
});
