import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { FileDiff } from "@agent/core";
import { type ClaimHandler, createFileEngine, type RunEvent, scheduleRun, startRun } from "@agent/durable";
import type { Browser, Page } from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createRunsServer } from "../src/commands/runs/server.js";
import { Sandbox } from "./agent.js";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SHOTS = process.env.AGENT_SCREENSHOTS;
const TOKEN = "page-token";
// For a machine that does other work.
const PATIENCE_MS = 60_000;

const diff: FileDiff = {
  path: "src/a.ts",
  change: "edited",
  added: 1,
  removed: 1,
  hunks: [{ oldStart: 3, newStart: 3, lines: [" const a = 1;", "-old", "+new\u202e"] }],
};

/** One call for each kind of view. */
const VIEWS: readonly RunEvent[] = (
  [
    { type: "diff", files: [diff] },
    { type: "code", text: "let a;", path: "src/b.ts", startLine: 7 },
    { type: "output", text: "2 tests failed\u202e", exitCode: 2 },
    { type: "list", items: [{ text: "a match", path: "src/c.ts", line: 12 }], more: 3 },
    { type: "table", columns: ["name", "size"], rows: [["d.ts", "120"]] },
    { type: "fields", fields: [["branch", "main"]] },
    { type: "markdown", text: "## Heading\n\n- **bold** and `code` [link](https://example.com) <b>no</b>" },
  ] as const
).flatMap((view, index): RunEvent[] => [
  { type: "tool_requested", id: `v${index}`, name: view.type, args: { n: index }, title: `call ${index}` },
  { type: "tool_end", id: `v${index}`, name: view.type, outcome: "ok", text: "text", durationMs: 5, view },
]);

/** A call with a child agent that reads a file. */
const inChild = (event: RunEvent): RunEvent =>
  ({ type: "child", id: "parent", child: 0, label: "explore", event }) as RunEvent;
const total = { inputTokens: 1200, outputTokens: 34 };
const CHILD: readonly RunEvent[] = [
  { type: "tool_requested", id: "parent", name: "agent_run", args: {}, title: "explore: look" },
  inChild({ type: "tool_requested", id: "c1", name: "read_file", args: {}, title: "src/deep.ts" }),
  inChild({ type: "usage", usage: total, total }),
  inChild({ type: "tool_end", id: "c1", name: "read_file", outcome: "ok", text: "deep text", durationMs: 5 }),
  inChild({ type: "done", text: "found", finishReason: "stop", turns: 1, usage: total }),
  { type: "tool_end", id: "parent", name: "agent_run", outcome: "ok", text: "found", durationMs: 9 },
];

/** A child agent that failed, under a call with the id of an earlier one, and a call of a script. */
const LATER: readonly RunEvent[] = [
  { type: "tool_requested", id: "parent", name: "agent_run", args: {}, title: "explore: look again" },
  inChild({ type: "tool_requested", id: "c2", name: "read_file", args: {}, title: "src/other.ts" }),
  { type: "tool_end", id: "parent", name: "agent_run", outcome: "error", text: "down", durationMs: 9 },
  { type: "tool_requested", id: "script", name: "run_script", args: {}, title: "return 1" },
  { type: "tool_requested", id: "script/t0", name: "write_file", args: {}, title: "a.txt", parent: "script" },
  {
    ...{ type: "tool_end", id: "script/t0", name: "write_file", outcome: "ok", text: "written" },
    ...{ parent: "script", durationMs: 5 },
  },
  { type: "tool_end", id: "script", name: "run_script", outcome: "ok", text: "1", durationMs: 9 },
];

/** An engine with `count` ended runs and one that waits for a decision, and its page. */
async function fleet(count: number, more: readonly RunEvent[] = []) {
  const sandbox = new Sandbox();
  const engine = createFileEngine(join(sandbox.home, "runs"));
  const server = createRunsServer(engine, { admin: TOKEN, viewer: `${TOKEN}-viewer` }, { version: "1" });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await engine.close();
  });
  const definition = { name: "task", version: "1" };
  for (let n = 0; n < count; n++)
    await startRun(engine, definition, { task: `task ${n}` }, { title: `run number ${n}` });
  const approval = {
    key: "k1",
    name: "edit_file",
    args: { path: "src/a.ts", new_text: "new", afterwards: "rm -rf ~" },
    capabilities: ["write"] as const,
    description: {
      title: "src/a.ts",
      kind: "edit" as const,
      needs: [],
      caution: "it is risky",
      always: ["src/**", "a\u202eb"].map((pattern) => ({ pattern, label: pattern })),
    },
    preview: { changes: [diff], shows: ["new_text"] },
  };
  let left = count;
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const worker = await engine.work(
    async (claim) => {
      if (--left <= 0) finish();
      if (claim.run.title !== "run number 0") {
        return { state: "done", result: { text: "ok", finishReason: "stop", turns: 1 }, cost: 0.01 };
      }
      await claim.append([], [{ type: "text", text: "I **look** at it." }, ...VIEWS, ...CHILD, ...more]);
      return { state: "waiting", approvals: [approval] };
    },
    {
      name: "w1",
      concurrency: 4,
      definitions: ["task"],
      labels: [],
      leaseMs: 30_000,
      maxCrashes: 3,
      onFault: () => undefined,
    },
  );
  await finished;
  await worker.close();
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { engine, origin, href: `${origin}/#token=${TOKEN}` };
}

describe.skipIf(!CHROMIUM)("the page of runs in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    const { launch } = await import("puppeteer-core");
    browser = await launch({
      executablePath: CHROMIUM ?? "",
      args: ["--no-sandbox"],
      timeout: PATIENCE_MS,
    });
  });
  afterAll(() => browser?.close());

  async function open(href: string): Promise<Page> {
    const page = await (await browser.createBrowserContext()).newPage();
    onTestFinished(() => page.close());
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(href);
    return page;
  }

  /** What axe finds wrong with the page as it is now. */
  async function axe(page: Page): Promise<unknown> {
    await page.evaluate(AXE);
    const found = (await page.evaluate("axe.run()")) as {
      violations: { id: string; nodes: { html: string }[] }[];
    };
    return found.violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 200))]);
  }

  test("has no faults in any view in light and dark, on a phone and on a desktop", async () => {
    const { href, engine } = await fleet(12);
    const [waiting] = await engine.list({ state: "waiting" });
    const page = await open(href);
    const places = {
      list: "td a",
      inbox: ".ask .yes",
      new: "textarea",
      [`run/${waiting?.id}`]: ".diff .add",
    };
    for (const scheme of ["light", "dark"]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      for (const width of [360, 1000, 1600]) {
        await page.setViewport({ width, height: 800 });
        for (const [place, ready] of Object.entries(places)) {
          await page.evaluate(`location.assign("#${place}")`);
          await page.waitForSelector(ready);
          expect(await axe(page), `${place} ${scheme} ${width}`).toEqual([]);
          const wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
          expect(wide, `${place} ${width}`).toBeLessThanOrEqual(0);
          if (!SHOTS) continue;
          const name = `${place.split("/")[0]}-${scheme}-${width}`;
          await page.screenshot({ path: join(SHOTS, `${name}.png`) as `${string}.png`, fullPage: true });
        }
      }
    }
  });

  test("offers the rules that a tool suggests, except those with invisible characters", async () => {
    const { href, engine } = await fleet(1);
    const [waiting] = await engine.list({ state: "waiting" });
    const page = await open(`${href.replace(/#.*/, "")}#token=${TOKEN}`);
    await page.waitForSelector("td a");
    await page.evaluate(`location.assign("#run/${waiting?.id}")`);
    await page.waitForSelector(".ask .bar");
    const labels = await page.$$eval(".ask .bar button", (all) => all.map((one) => one.textContent));
    expect(labels).toEqual([
      "Allow",
      "Deny",
      "Allow edit_file(src/**) for this run",
      "Allow edit_file for this run",
    ]);
    const buttons = await page.$$(".ask .bar button");
    await buttons[2]?.click();
    await page.waitForFunction("document.querySelector('dd .state').textContent === 'queued'");
    const [decided] = await engine.list({});
    expect(decided?.decisions).toMatchObject([{ decision: { always: "edit_file(src/**)" } }]);
  });

  test("shows all kinds of views of a run, times, and first the decision with its diff", async () => {
    const { href, engine } = await fleet(1);
    const [waiting] = await engine.list({ state: "waiting" });
    const page = await open(href);
    await page.setViewport({ width: 360, height: 740 });
    await page.evaluate(`location.assign("#run/${waiting?.id}")`);
    await page.waitForFunction("document.querySelectorAll('main section.card').length === 10");
    const shown = await page.$eval("main", (main) => main.textContent);
    for (const part of [
      "2 tests failed\\u202e",
      "exit code 2",
      "src/b.ts:7",
      "src/c.ts:12 a match",
      "and 3 more",
    ])
      expect(shown).toContain(part);
    for (const part of ["d.ts", "branch", "Heading", "<b>no</b>", "call 3"]) expect(shown).toContain(part);
    expect(await page.$eval(".md b", ({ textContent }) => textContent)).toBe("look");
    expect(await page.$$eval("main time", (times) => times.length)).toBeGreaterThan(7);
    const ask = await page.$eval(".ask", (card) => card.textContent);
    expect(ask).toContain("Caution: it is risky");
    expect(ask).toContain("+new\\u202e");
    expect(ask).toContain("rm -rf ~");
    // Drawn once, as a diff.
    expect(ask.split("-old")).toHaveLength(2);
    // The diff shows this argument; the decision is on the first screen of a phone.
    expect(ask).not.toContain("new_text");
    expect(await page.$eval(".ask", (card) => card.getBoundingClientRect().top)).toBeLessThan(300);
    // It stays in view, and leaves room for what it is about.
    expect(await page.evaluate("getComputedStyle(document.querySelector('.ask .bar')).position")).toBe(
      "sticky",
    );
    expect(await page.$eval(".ask .bar", (bar) => bar.getBoundingClientRect().height)).toBeLessThan(140);
    await page.click(".ask .yes");
    await page.waitForFunction("document.querySelector('dd .state').textContent === 'queued'");
    expect((await engine.get(waiting?.id ?? ""))?.decisions).toMatchObject([{ decision: "allow" }]);
  });

  test("shows long text of a model that begins many links and ends none", async () => {
    const { href, engine } = await fleet(1);
    const text = `${"[".repeat(500_000)}${"[a](https://".repeat(50_000)} [The end](https://example.com)`;
    const handle: ClaimHandler = async (claim) => {
      await claim.append([], [{ type: "text", text }]);
      return { state: "done", result: { text: "ok", finishReason: "stop", turns: 1 } };
    };
    const id = await startRun(engine, { name: "links", version: "1" }, {});
    const worker = await engine.work(handle, {
      name: "w2",
      concurrency: 1,
      definitions: ["links"],
      labels: [],
      leaseMs: 30_000,
      maxCrashes: 3,
      onFault: () => undefined,
    });
    for await (const _ of engine.events(id, { follow: true }));
    await worker.close();
    const page = await open(`${href.split("#")[0]}#token=${TOKEN}`);
    await page.waitForSelector("td a");
    await page.evaluate(`location.assign("#run/${id}")`);
    const link = await page.waitForSelector(".md a");
    expect(await link?.evaluate((one) => one.textContent)).toBe("The end");
  });

  test("shows a child agent under its call in a run, with what it did inside", async () => {
    const { href, engine } = await fleet(1);
    const [waiting] = await engine.list({ state: "waiting" });
    const page = await open(`${href}`);
    await page.goto(`${href.split("#")[0]}#run/${waiting?.id}`);
    const child = await page.waitForSelector(".card > details.child");
    expect(await child?.$eval("summary", (one) => one.textContent)).toMatch(
      /^explore · done · .*1,234 tokens$/,
    );
    expect(await page.$eval(".card:has(> details.child) > b", (one) => one.textContent)).toBe("agent_run");
    const inner = await child?.$eval("div .card", (one) => one.textContent);
    expect(inner).toContain("explore › read_file src/deep.ts");
    expect(inner).toContain("deep text");
    expect(await child?.evaluate((one) => (one as unknown as { open: boolean }).open)).toBe(false);
  });

  test("shows a failed child agent as stopped, and calls of a script inside its call", async () => {
    const { href, engine } = await fleet(1, LATER);
    const [waiting] = await engine.list({ state: "waiting" });
    const page = await open(`${href}`);
    await page.goto(`${href.split("#")[0]}#run/${waiting?.id}`);
    await page.waitForSelector(".card > .card");
    expect(await page.$$eval(".card > .card > b", (all) => all.map((one) => one.textContent))).toEqual([
      "write_file",
    ]);
    expect(await page.$$eval("details.child > summary", (all) => all.map((one) => one.textContent))).toEqual([
      expect.stringMatching(/^explore · done/),
      expect.stringMatching(/^explore · stopped/),
    ]);
  });

  test("pages, searches, keeps filters and focus, and changes many runs", async () => {
    const { href, engine } = await fleet(120);
    const page = await open(href);
    const rows = (count: number) =>
      page.waitForFunction(`document.querySelectorAll("tbody tr").length === ${count}`);
    await rows(100);
    expect(await page.$eval("#status", ({ textContent }) => textContent)).toContain("100 of 120 runs");
    await page.evaluate("[...document.querySelectorAll('button')].at(-1).click()");
    await rows(120);
    await page.type("[aria-label=Search]", "number 11");
    await rows(11);
    await page.focus("tbody tr:nth-child(3) a");
    const title = await page.evaluate("document.activeElement.textContent");
    await page.keyboard.press("Enter");
    await page.waitForSelector("dd .state");
    await page.goBack();
    await rows(11);
    expect(await page.$eval("[aria-label=Search]", (input) => (input as { value?: string }).value)).toBe(
      "number 11",
    );
    await page.waitForFunction(`document.activeElement?.textContent === ${JSON.stringify(title)}`);
    await engine.create({
      ...{ id: "extra-11", definition: "task", version: "1", tenant: "default", labels: [], priority: 0 },
      ...{ input: { task: "x" }, title: "number 11 again" },
    });
    await rows(12);
    await page.click("tbody tr:first-child input");
    await page.evaluate(
      "[...document.querySelectorAll('button')].find((b) => b.textContent === 'Cancel them').click()",
    );
    await page.waitForFunction("document.querySelector('tbody tr .state').textContent === 'cancelled'");
    expect((await engine.get("extra-11"))?.state).toBe("cancelled");
  });

  test("has one request open at a time", async () => {
    const { href, engine } = await fleet(3);
    const page = await open(href);
    let current = 0;
    let most = 0;
    let asked = 0;
    page.on("request", (request) => {
      if (!request.url().includes("/api/")) return;
      asked++;
      most = Math.max(most, ++current);
    });
    for (const event of ["requestfinished", "requestfailed"] as const) {
      page.on(event, (request) => {
        if (request.url().includes("/api/")) current--;
      });
    }
    await page.waitForSelector("td a");
    const before = asked;
    // What happens later comes through the stream that is open.
    await startRun(engine, { name: "task", version: "1" }, { task: "late" }, { title: "a late run" });
    await page.waitForFunction("document.querySelector('td a').textContent === 'a late run'");
    expect(asked).toBe(before);
    expect(most).toBeLessThanOrEqual(1);
  });

  test("starts a run", async () => {
    const { href, engine } = await fleet(1);
    const page = await open(href);
    await page.waitForSelector("td a");
    await page.click("#tab-new");
    await page.waitForSelector("textarea:focus");
    await page.keyboard.type("count the files");
    await page.keyboard.press("Tab");
    await page.keyboard.type("A count");
    await page.type("[name=tenant]", "acme");
    await page.type("[name=maxCost]", "2.5");
    await page.$eval("[name=startAt]", (input) => {
      (input as { value?: string }).value = "2126-03-01T09:00";
    });
    await page.keyboard.press("Enter");
    await page.waitForFunction(
      "/^run is/.test(document.querySelector('#status').textContent) || document.querySelector('#status.error')",
    );
    expect(await page.$eval("#status", ({ className, textContent }) => [className, textContent])).toEqual([
      "dim",
      "run is waiting",
    ]);
    const [run] = await engine.list({ text: "A count" });
    expect(await engine.get(run?.id ?? "")).toMatchObject({
      input: { task: "count the files", maxCost: 2.5 },
      tenant: "acme",
      wait: { until: new Date("2126-03-01T09:00").getTime() },
      definition: "task",
      labels: [expect.stringMatching(/^dir:/)],
    });
  });

  test("shows workers, limits, pauses and what was spent, and pauses all runs", async () => {
    const { href, engine } = await fleet(3);
    await engine.setLimits("acme", { concurrency: 2 });
    await engine.setRate("openai", 600);
    const run = { definition: "task", version: "1", tenant: "default", labels: [], priority: 0, input: {} };
    await scheduleRun(engine, {
      id: "nightly",
      cron: "0 3 * * *",
      timeZone: "Europe/Berlin",
      overlap: "skip",
      run,
    });
    const page = await open(href);
    await page.waitForSelector("td a");
    await page.click("details.card summary");
    await page.waitForFunction("document.querySelector('details.card').textContent.includes('openai')");
    const fleetText = await page.$eval("details.card", ({ textContent }) => textContent);
    expect(fleetText).toContain("tenant acme2–");
    expect(fleetText).toContain("openai–600");
    expect(fleetText).toContain("nightly0 3 * * * Europe/Berlin");
    expect(await page.$$eval("figcaption", (all) => all.map(({ textContent }) => textContent))).toContain(
      "Spent$0.020 in all",
    );
    await page.click("details.card button");
    await page.waitForFunction(
      "document.querySelector('summary').textContent.includes('All runs are paused.')",
    );
    expect(await engine.getPaused()).toEqual(["*"]);
    expect(await page.$eval("details.card", ({ open }) => open)).toBe(true);
    expect(await axe(page)).toEqual([]);
  });

  test("decides about several calls together, and lets a viewer only look", async () => {
    const { href, engine } = await fleet(1);
    const [first] = await engine.list({ state: "waiting" });
    const approvals = first?.approvals ?? [];
    await startRun(engine, { name: "task", version: "1" }, { task: "x" }, { title: "the other" });
    const waits = new Promise<void>((resolve) => {
      const result = { text: "ok", finishReason: "stop", turns: 1 } as const;
      const handle: ClaimHandler = async ({ run }) =>
        run.decisions.length > 0 ? { state: "done", result } : { state: "waiting", approvals };
      void engine.work(handle, {
        name: "w2",
        concurrency: 1,
        definitions: ["task"],
        labels: [],
        leaseMs: 30_000,
        maxCrashes: 3,
        onFault: () => undefined,
        onEnded: () => resolve(),
      });
    });
    await waits;
    const viewer = await open(`${href}-viewer`);
    await viewer.waitForSelector("td a");
    await viewer.evaluate("location.assign('#inbox')");
    await viewer.waitForSelector(".ask .diff");
    expect(await viewer.$$(".ask button, .ask input")).toHaveLength(0);
    expect(await viewer.$eval("#tab-new", ({ hidden }) => (hidden as unknown) === true)).toBe(true);

    const page = await open(href);
    await page.waitForSelector("td a");
    await page.evaluate("location.assign('#inbox')");
    await page.waitForFunction("document.querySelectorAll('.ask input[type=checkbox]').length === 2");
    expect(await axe(page)).toEqual([]);
    // On a phone no row of buttons is in view before what it is about.
    await page.setViewport({ width: 360, height: 740 });
    expect(await page.evaluate("getComputedStyle(document.querySelector('.ask .bar')).position")).toBe(
      "static",
    );
    // With the keyboard alone.
    await page.focus("[aria-label='Chosen calls'] button");
    await page.keyboard.press("Enter");
    await page.waitForFunction(
      "document.querySelector('[aria-label=\"Chosen calls\"]').textContent.includes('2 chosen')",
    );
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForFunction("document.querySelectorAll('.ask').length === 0");
    expect((await engine.get(first?.id ?? ""))?.decisions).toMatchObject([{ decision: "allow" }]);
  });

  test("shows what waits for a decision while many runs wait for a time, as in an outage", async () => {
    const { href, engine } = await fleet(1);
    const [asks] = await engine.list({ undecided: true });
    const definition = { name: "task", version: "1" };
    const startAt = Date.now() + 3_600_000;
    for (let n = 0; n < 60; n++) await startRun(engine, definition, { task: "x" }, { startAt });
    const page = await open(href);
    await page.waitForFunction("document.querySelector('#tab-inbox .count')?.textContent === '1'");
    await page.click("#tab-inbox");
    await page.waitForSelector(".ask .yes");
    expect(await page.$$eval(".ask a", (all) => all.map((one) => one.getAttribute("href")))).toEqual([
      `#run/${asks?.id}`,
    ]);
    await page.click(".ask .yes");
    await page.waitForFunction("document.querySelectorAll('.ask, #tab-inbox .count').length === 0");
  });

  test("sends a further message to a run", async () => {
    const { href, engine } = await fleet(2);
    const [done] = await engine.list({ state: "done" });
    const page = await open(href);
    await page.waitForSelector("td a");
    await page.evaluate(`location.assign("#run/${done?.id}")`);
    await page.waitForSelector("form.bar:not([hidden]) input");
    await page.type("form.bar input", "and now?");
    await page.keyboard.press("Enter");
    await page.waitForFunction("document.querySelector('dd .state').textContent === 'queued'");
    expect((await engine.get(done?.id ?? ""))?.messages).toEqual(["and now?"]);
  });
});
