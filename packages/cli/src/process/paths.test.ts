import { userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { homeDirectory } from "@agent/terminal/host";
import { describe, expect, test } from "vitest";
import { configDirectory, stateDirectory } from "./paths.js";

describe("nothing is ever kept in the project", () => {
  test.each([[""], ["home"], ["."], [undefined]])("uses the home of the account with HOME=%j", (HOME) => {
    const env = HOME === undefined ? {} : { HOME, XDG_STATE_HOME: "", XDG_CONFIG_HOME: "relative" };
    expect(homeDirectory(env)).toBe(userInfo().homedir);
    for (const directory of [configDirectory(env), stateDirectory(env)])
      expect(isAbsolute(directory)).toBe(true);
  });

  test("prefers a home in the environment, and directories named there", () => {
    expect(stateDirectory({ HOME: "/h" })).toBe(join("/h", ".local/state/agent"));
    expect(stateDirectory({ HOME: "/h", XDG_STATE_HOME: "/s" })).toBe(join("/s", "agent"));
  });
});
