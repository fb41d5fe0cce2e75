import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packCatalogue } from "../src/commands/pack/catalogue.js";
import { packSource, Sandbox } from "./agent.js";
import { NAME, NpmRegistry } from "./npmRegistry.js";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SHOTS = process.env.AGENT_SCREENSHOTS;
const NO_REGISTRY = { npm_config_registry: "http://127.0.0.1:1", npm_config_fetch_retries: "0" };

test("is generated from a registry with evidence, and searched and rendered without one", async () => {
  const box = new Sandbox();
  const registry = await NpmRegistry.start(box);
  registry.publish("1.2.3", { "index.js": packSource("greet") });
  const made = await box.run(["pack", "catalogue", "--out", "site", "--check"], { env: registry.env });
  expect(made.stderr).toContain(`1/1 ${NAME}`);
  expect(made).toMatchObject({ code: 0, stdout: "Wrote site/index.html and catalogue.json with 1 pack.\n" });
  const file = join(box.project, "site/catalogue.json");
  const { packs } = JSON.parse(readFileSync(file, "utf8"));
  expect(packs).toEqual([
    {
      name: NAME,
      version: "1.2.3",
      description: "Says hello",
      publisher: "alice",
      released: "2026-03-01",
      bytes: 2048,
      provenance: false,
      kitFailed: ["exports", "options", "bad-arguments"],
      isolated: true,
      tools: [{ name: "greet", enabled: true, capabilities: ["read"] }],
      secrets: [],
    },
  ]);
  const found = await box.run(["pack", "search", "greet", "--index", file], { env: NO_REGISTRY });
  expect(found.stdout).toMatch(
    /^agent-pack-greeter +1\.2\.3 +failed: exports, options, bad-arguments +yes +read +none +2/m,
  );
  const again = await box.run(["pack", "catalogue", "--from", file, "--out", "copy"], { env: NO_REGISTRY });
  expect(again.code).toBe(0);
  const page = readFileSync(join(box.project, "copy/index.html"), "utf8");
  expect(page).toBe(readFileSync(join(box.project, "site/index.html"), "utf8"));
  expect(page).toContain("failed: exports, options, bad-arguments");
});

/** A pack about which all is known, with changes. */
const pack = (name: string, more: object = {}) => ({
  name,
  version: "1.0.0",
  description: "Tells the weather.",
  publisher: "alice",
  released: "2026-10-01",
  bytes: 120_000,
  provenance: true,
  kitFailed: [],
  isolated: true,
  tools: [
    { name: "weather_now", enabled: true, capabilities: ["network"] },
    { name: "weather_alarm", enabled: false, capabilities: ["write"] },
  ],
  secrets: ["WEATHER_KEY"],
  ...more,
});
const HOSTILE = `<img src=x onerror="window.owned=1"></li><script>window.owned=1</script>\u202e & 'more'`;
const CATALOGUE = {
  format: "agent-pack-catalogue",
  version: 1,
  generated: "2026-11-18T00:00:00Z",
  packs: [
    pack("agent-pack-weather"),
    pack("@me/agent-pack-broken", { kitFailed: ["risky-off", "abort"], provenance: false, isolated: false }),
    { name: "agent-pack-unknown", version: "0.1.0", description: "" },
    pack("agent-pack-hostile", {
      description: HOSTILE,
      publisher: HOSTILE,
      version: HOSTILE,
      released: HOSTILE,
      deprecated: HOSTILE,
      problem: HOSTILE,
      secrets: [HOSTILE],
      tools: [{ name: HOSTILE, enabled: true, capabilities: [HOSTILE] }],
    }),
    pack(`agent-pack-${"long".repeat(30)}`, { description: "word".repeat(200) }),
  ],
};

const generate = async (box: Sandbox, data: unknown): Promise<string> => {
  const from = box.write("in.json", typeof data === "string" ? data : JSON.stringify(data));
  const out = join(box.project, "page");
  await packCatalogue({ words: [], out, from, check: false, print: () => undefined });
  return join(out, "index.html");
};

test.each<[string, unknown, RegExp]>([
  ["no JSON", "{", /is not a catalogue of packs: /],
  ["another format", { packs: [] }, /no "format": "agent-pack-catalogue" with version 1/],
  ["a name that is a path", { ...CATALOGUE, packs: [pack("../x")] }, /packs\[0\] is malformed/],
  ["a wrong size", { ...CATALOGUE, packs: [pack("a", { bytes: "1" })] }, /packs\[0\] is malformed/],
  [
    "tools without capabilities",
    { ...CATALOGUE, packs: [pack("a", { tools: [{ name: "x" }] })] },
    /malformed/,
  ],
])("refuses a file with %s", async (_, data, message) => {
  await expect(generate(new Sandbox(), data)).rejects.toThrow(message);
});

describe.skipIf(!CHROMIUM)("the page in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    const { launch } = await import("puppeteer-core");
    browser = await launch({ executablePath: CHROMIUM ?? "", args: ["--no-sandbox"] });
  });
  afterAll(() => browser?.close());

  test("shows the evidence, runs nothing of a pack, filters, and has no fault that axe finds", async () => {
    const page = await browser.newPage();
    const file = await generate(new Sandbox(), CATALOGUE);
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (message) => problems.push(message.text()));
    await page.goto(pathToFileURL(file).href);
    expect(await page.evaluate("window.owned")).toBeUndefined();
    expect(await page.$$eval(".pack", (items) => items.length)).toBe(CATALOGUE.packs.length);
    expect(await page.$eval(".pack dl", (list) => list.textContent)).toBe(
      "KitpassedIsolatedyesCapabilitiesnetwork, writeSecretsWEATHER_KEYSize117 KBProvenanceyesReleased2026-10-01",
    );
    for (const [name, width, scheme] of [
      ["light", 1280, "light"],
      ["dark", 1280, "dark"],
      ["phone", 390, "dark"],
    ] as const) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      await page.setViewport({ width, height: 900 });
      await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      // The page's own rules allow no other script.
      await page.setBypassCSP(true);
      await page.evaluate(AXE);
      expect(await page.evaluate("axe.run().then((found) => found.violations)")).toEqual([]);
      if (SHOTS) await page.screenshot({ path: join(SHOTS, `catalogue-${name}.png`) });
    }
    await page.type("#filter input", "broken");
    expect(
      await page.$$eval(".pack:not([hidden]) h2 a", (links) => links.map((link) => link.textContent)),
    ).toEqual(["@me/agent-pack-broken"]);
    expect(await page.$eval("#count", ({ textContent }) => textContent)).toBe("1 of 5 packs");
    expect(problems).toEqual([]);
  });
});
