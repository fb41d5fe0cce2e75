import { expect, test } from "vitest";
import { namedSecretPlaces } from "./secretPlaces.js";

test("finds secret places that variables name or move", () => {
  const places = namedSecretPlaces({
    KUBECONFIG: "/k/one:/k/two:relative",
    HF_HOME: "/models",
    HISTFILE: "/h/history",
    XDG_CONFIG_HOME: "/x/config",
    XDG_DATA_HOME: "relative",
  });
  expect(places).toEqual(
    expect.arrayContaining([
      "/k/one",
      "/k/two",
      "/models/token",
      "/h/history",
      "/x/config/gcloud",
      "/x/config/gh",
    ]),
  );
  expect(places.filter((place) => !place.startsWith("/") || place.includes("relative"))).toEqual([]);
  // The models themselves can be read.
  expect(places).not.toContain("/models");
});

test("names nothing where no variable is set", () => {
  expect(namedSecretPlaces({})).toEqual([]);
});
