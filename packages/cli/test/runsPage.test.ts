import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runsProject, serveRuns, startRun, workOff } from "./runsProject.js";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);
if (!CHROMIUM) process.stdout.write("Skipped: tests of the page of runs. They need Chromium.\n");

test.skipIf(!CHROMIUM)(
  "shows runs live on the page, and decides, in a real browser by keyboard alone",
  async () => {
    const more = 'confirm: ["read_file"], prices: { scripted: { input: 1000, output: 2000 } },';
    const sandbox = runsProject("<img src=x onerror=alert(1)> All done.", more);
    await startRun(sandbox, "look at <b>a.txt</b>");
    await workOff(sandbox);
    const board = "http://127.0.0.1:3000/board";
    const { href, origin } = await serveRuns(sandbox, "--board", board);
    expect((await fetch(`${origin}/api/runs`)).status).toBe(401);
    expect((await fetch(`${origin}/api/runs`, { headers: { authorization: "Bearer x" } })).status).toBe(401);
    expect((await fetch(`${origin}/etc/passwd`)).status).toBe(404);

    const { launch } = await import("puppeteer-core");
    const browser = await launch({
      executablePath: CHROMIUM ?? "",
      args: ["--no-sandbox"],
      timeout: 60_000,
    });
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    await page.goto(href);
    await page.waitForSelector("td .waiting");
    expect(await page.$eval("tbody", (body) => body.textContent)).toContain(
      "waits for a decision about read_file",
    );
    // The age is updated although nothing else changes.
    const age = await page.$eval("tbody td:nth-child(6)", (cell) => cell.textContent);
    await page.waitForFunction(
      `document.querySelector("tbody td:nth-child(6)").textContent !== ${JSON.stringify(age)}`,
    );
    expect(page.url()).not.toContain("token");
    // To the run, and to the button that allows the call, without a mouse.
    const pressTabUntil = async (text: string): Promise<void> => {
      for (let presses = 0; presses < 60; presses++) {
        await page.keyboard.press("Tab");
        if ((await page.evaluate("document.activeElement.textContent")) === text) return;
      }
      throw new Error(`The keyboard does not reach ${text}.`);
    };
    await pressTabUntil("look at <b>a.txt</b>");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".ask input");
    // A reason that is being typed stays when the page hears of the run again.
    await page.type(".ask input", "not yet");
    await page.waitForFunction("document.querySelector('#status').textContent === 'run is waiting'");
    expect(await page.$eval(".ask input", (input) => input.value)).toBe("not yet");
    await page.focus("main");
    if (process.env.AGENT_SCREENSHOTS)
      await page.screenshot({
        path: join(process.env.AGENT_SCREENSHOTS, "waiting.png") as `${string}.png`,
        fullPage: true,
      });
    await pressTabUntil("Allow");
    await page.keyboard.press("Enter");
    await page.waitForFunction("document.querySelector('dd .state').textContent === 'queued'");
    // Another process continues; the page sees it live.
    await workOff(sandbox);
    await page.waitForFunction("document.querySelector('dd .state').textContent === 'done'");
    const shown = await page.$eval("main", (main) => main.textContent);
    expect(shown).toContain("<img src=x onerror=alert(1)> All done.");
    expect(shown).toContain("hello");
    if (process.env.AGENT_SCREENSHOTS)
      await page.screenshot({
        path: join(process.env.AGENT_SCREENSHOTS, "done.png") as `${string}.png`,
        fullPage: true,
      });
    await page.click("#tab-list");
    await page.waitForSelector("td .done");
    expect(await page.$eval("tbody", (body) => body.textContent)).toContain("$0.040");
    expect(await page.$eval("#board", (link) => [link.getAttribute("href"), link.hidden])).toEqual([
      board,
      false,
    ]);
    expect(
      await page.$$eval("figure svg", (plots) => plots.map((plot) => plot.getAttribute("aria-label"))),
    ).toEqual([
      "Done: 1 in all",
      expect.stringContaining("Waiting for a worker: "),
      "Failed: 0 in all",
      expect.stringContaining("Spent: "),
    ]);
    if (process.env.AGENT_SCREENSHOTS)
      await page.screenshot({
        path: join(process.env.AGENT_SCREENSHOTS, "list.png") as `${string}.png`,
        fullPage: true,
      });
    expect(problems).toEqual([]);
  },
);
