import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { installed, isInstalled, runSuite, why } from "./suites.js";

const REVISIONS = ["2025-11-25", "2026-07-28"];
const SUITE = installed("conformance", "dist", "index.js");
const CLIENT = programPath("conformanceClient.mjs");
const SERVER = programPath("conformanceServer.mjs");

function programPath(name: string): string {
  return fileURLToPath(new URL(`programs/${name}`, import.meta.url));
}

/** The scenarios of one leg that a revision requires, as the suite's own file lists them. */
function required(revision: string, leg: "client" | "server"): string[] {
  if (!isInstalled) return ["all"];
  const text = readFileSync(installed("conformance", "requirements", `${revision}.yaml`), "utf8");
  const [, list = ""] = new RegExp(`^${leg}:\\n((?:  - .*\\n)+)`, "m").exec(text) ?? [];
  return list.split("\n").flatMap((line) => line.replace(/^ *- /, "") || []);
}

/** The end of what the suite printed, where it says what failed. */
function verdict(output: string): string {
  const end = output.lastIndexOf("Test Results:");
  return end === -1 ? output.slice(-4000) : output.slice(end);
}

describe.skipIf(!isInstalled).each(REVISIONS)(`as a client of revision %s${why}`, (revision) => {
  // A few at a time: each is two programs, and the suite allows half a minute.
  test.concurrent.each(required(revision, "client"))("%s", async (scenario) => {
    const command = `${process.execPath} ${CLIENT}`;
    const args = ["client", "--command", command, "--scenario", scenario, "--spec-version", revision];
    const { output } = await runSuite(SUITE, [...args, "--timeout", "120000"]);
    expect(verdict(output)).toContain("OVERALL: PASSED");
  });
});

describe.skipIf(!isInstalled)(`as a server${why}`, () => {
  test.each(REVISIONS)(
    "passes everything of revision %s, except what is listed with its reason",
    async (revision) => {
      const server = spawn(process.execPath, [SERVER], { stdio: ["ignore", "pipe", "inherit"] });
      try {
        const [line] = await once(server.stdout, "data");
        const url = String(line).trim();
        const expected = fileURLToPath(new URL(`expectedFailures.${revision}.yaml`, import.meta.url));
        const args = ["server", "--url", url, "--requirements", revision, "--expected-failures", expected];
        const { code, output } = await runSuite(SUITE, args);
        expect(output.slice(output.lastIndexOf("=== SUMMARY"))).toContain("✓ tools-list");
        expect(code, output.slice(-4000)).toBe(0);
      } finally {
        server.kill();
        await once(server, "exit");
      }
    },
  );
});
