import { once } from "node:events";
import { existsSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { finished, Sandbox } from "./agent.js";

/** A project whose model reads a file and then answers; by the conversation, since each process asks it anew. */
function project(answer = "All done.", more = ""): Sandbox {
  const sandbox = new Sandbox();
  sandbox.write("agent.config.mjs", config(answer, more));
  sandbox.write("a.txt", "hello\n");
  return sandbox;
}

function config(answer: string, more = ""): string {
  return `export default {
  provider: {
    model: "scripted",
    async respond({ messages, onText }) {
      const usage = { inputTokens: 10, outputTokens: 5 };
      if (messages.some(({ role }) => role === "tool")) {
        onText?.(${JSON.stringify(answer)});
        return { content: ${JSON.stringify(answer)}, toolCalls: [], finishReason: "stop", usage };
      }
      const call = { id: "c1", type: "function", function: { name: "read_file", arguments: '{"path":"a.txt"}' } };
      return { content: null, toolCalls: [call], finishReason: "tool_calls", usage };
    },
  },
  ${more}
};
`;
}

async function start(sandbox: Sandbox, task = "look at a.txt"): Promise<string> {
  const { stdout, code } = await sandbox.run(["runs", "start", "--json", task]);
  expect(code).toBe(0);
  return JSON.parse(stdout).id;
}

/** Resolves as soon as the text has come. */
async function said(stream: Readable, text: string): Promise<void> {
  let all = "";
  await new Promise<void>((resolve) => {
    stream.on("data", (chunk: Buffer) => {
      all += chunk.toString();
      if (all.includes(text)) resolve();
    });
  });
}

const work = (sandbox: Sandbox) => sandbox.run(["runs", "work", "--drain", "--trust"]);

test("a run is started, executed by another process, listed, shown and followed", async () => {
  const sandbox = project();
  const id = await start(sandbox);
  expect((await sandbox.run(["runs", "list"])).stdout).toContain("queued");
  const worked = await work(sandbox);
  expect(worked.stderr).toContain(`run ${id}: done`);
  const shown = JSON.parse((await sandbox.run(["runs", "show", id, "--json"])).stdout);
  expect(shown).toMatchObject({ v: 1, run: { state: "done", result: { text: "All done." } } });
  const followed = await sandbox.run(["runs", "follow", id]);
  expect(followed).toMatchObject({ code: 0, stdout: "All done.\n" });
  expect(followed.stderr).toContain("read_file");
  const lines = (await sandbox.run(["runs", "follow", id, "--json"])).stdout.trim().split("\n");
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ run: { state: "done" } });
  expect((await sandbox.run(["runs", "prune", "--older", "0s"])).stdout).toBe("1 run removed.\n");
  expect((await sandbox.run(["runs", "list"])).stdout).toContain("No runs.");
});

test("a call that needs a yes waits without a process; a denial reaches the model with its reason", async () => {
  const sandbox = project("Understood.", 'confirm: ["read_file"],');
  const id = await start(sandbox);
  await work(sandbox);
  const shown = await sandbox.run(["runs", "show", id]);
  expect(shown.stdout).toContain("waiting for a decision about read_file");
  const denied = await sandbox.run(["runs", "approve", id, "--deny", "not that file"]);
  expect(denied).toMatchObject({ code: 0, stdout: "read_file: denied\n" });
  expect((await sandbox.run(["runs", "approve", id])).stderr).toContain("waits for no decision");
  await work(sandbox);
  const { stdout } = await sandbox.run(["runs", "follow", id, "--json"]);
  expect(stdout).toContain("the person said no: not that file");
});

test("the question about a call spells out what cannot be seen, in the terminal and on the page", async () => {
  const sandbox = new Sandbox();
  const hidden = JSON.stringify({ path: "a\u202etxt.sh", content: "x\u200b" });
  const call = { id: "1'; id #", type: "function", function: { name: "write_file", arguments: hidden } };
  sandbox.write(
    "agent.config.mjs",
    `const toolCalls = [${JSON.stringify(call)}];
export default {
  confirm: ["write_file"],
  provider: { model: "m", respond: async () => ({ content: null, toolCalls, finishReason: "tool_calls" }) },
};
`,
  );
  const id = await start(sandbox);
  await work(sandbox);
  const { stdout } = await sandbox.run(["runs", "show", id]);
  expect(stdout).toContain("│ path: a\\u202etxt.sh\n│ content: x\\u200b\n");
  // A person may copy the line into a shell.
  expect(stdout).toMatch(/--call '[^']*'\\''[^']*'\n$/);
  const server = sandbox.start(["runs", "serve", "--json"]);
  onTestFinished(() => void server.kill("SIGINT"));
  const url = await new Promise<URL>((resolve) => {
    server.stdout.once("data", (chunk: Buffer) => resolve(new URL(JSON.parse(chunk.toString()).url)));
  });
  const authorization = `Bearer ${url.hash.slice("#token=".length)}`;
  const answer = await fetch(`${url.origin}/api/runs/${id}`, { headers: { authorization } });
  const { run } = (await answer.json()) as { run: { approvals: { question: string }[] } };
  expect(run.approvals[0]?.question).toContain("│ path: a\\u202etxt.sh\n│ content: x\\u200b");
});

test("what people see of a run: its title, when it was queued, that it waits for a worker, why it was cancelled", async () => {
  const sandbox = project();
  const started = await sandbox.run([
    "runs",
    "start",
    "look at a.txt",
    "--title",
    "Friday's look",
    "--id",
    "friday",
  ]);
  expect(started.stdout).toBe("friday\n");
  expect(started.stderr).toContain("Start a worker: agent runs work.");
  expect(started.stderr).toContain("agent runs follow friday");
  const again = await sandbox.run(["runs", "start", "look at a.txt", "--id", "friday"]);
  expect(again).toMatchObject({ code: 0, stdout: "friday\n" });
  expect(again.stderr).toContain("There is a run with this id already: queued");
  expect((await sandbox.run(["runs", "list"])).stdout).toContain("Friday's look");
  const none = await sandbox.run(["runs", "list", "--state", "waiting"]);
  expect(none.stdout).toBe("No such runs. All of them: agent runs list\n");
  const follower = sandbox.start(["runs", "follow", "friday"]);
  onTestFinished(() => void follower.kill("SIGKILL"));
  const followed = finished(follower);
  await said(follower.stderr, "It waits for a worker (dir:");
  expect((await sandbox.run(["runs", "cancel", "friday"])).stdout).toBe("friday: cancelled\n");
  expect(await followed).toMatchObject({ code: 4 });
  const shown = (await sandbox.run(["runs", "show", "friday"])).stdout;
  expect(shown).toMatch(/title: +Friday's look\ntask: +look at a.txt/);
  expect(shown).toMatch(/state: +cancelled: no reason was given/);
  expect(shown).toMatch(/queued at: +2/);
  expect(shown).not.toContain("begun at");
  const refused = await sandbox.run(["runs", "cancel", "friday"]);
  expect(refused.stderr).toContain("Nothing to do: run friday is cancelled: no reason was given.\n");
  const wrong = await sandbox.run(["runs", "start", "x", "--priority", "high"]);
  expect(wrong.stderr).toContain('--priority must be a whole number from -1000 to 1000, got "high".');
});

test("a run can be cancelled and retried, from any process", async () => {
  const sandbox = project();
  const id = await start(sandbox);
  expect((await sandbox.run(["runs", "cancel", id, "not", "needed"])).stdout).toBe(`${id}: cancelled\n`);
  expect((await sandbox.run(["runs", "list", "--state", "cancelled"])).stdout).toContain("not needed");
  expect(await sandbox.run(["runs", "cancel", id])).toMatchObject({ code: 4 });
  expect((await sandbox.run(["runs", "retry", id])).stdout).toBe(`${id}: queued\n`);
  await work(sandbox);
  expect((await sandbox.run(["runs", "show", id])).stdout).toContain("All done.");
});

test("what a run cost is listed and shown, where prices are configured", async () => {
  const sandbox = project("All done.", "prices: { scripted: { input: 1000, output: 2000 } },");
  const id = await start(sandbox);
  await work(sandbox);
  // Two answers of 10 and 5 tokens.
  expect((await sandbox.run(["runs", "list"])).stdout).toMatch(/30 tokens +\$0\.040 +done/);
  expect((await sandbox.run(["runs", "show", id])).stdout).toMatch(/cost: +\$0\.040\n/);
  const shown = JSON.parse((await sandbox.run(["runs", "list", "--json"])).stdout);
  expect(shown.runs[0].cost).toBeCloseTo(0.04);
});

test("a run that goes on after the settings have changed says so, and one that did not does not", async () => {
  const sandbox = project("Understood.", 'confirm: ["read_file"],');
  const id = await start(sandbox);
  await work(sandbox);
  sandbox.write(
    "agent.config.mjs",
    config("Understood.", 'confirm: ["read_file"], systemPrompt: "Be brief.",'),
  );
  await sandbox.run(["runs", "approve", id]);
  await work(sandbox);
  const { stdout } = await sandbox.run(["runs", "follow", id, "--json"]);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).event?.type);
  expect(events.filter((type) => type === "version")).toHaveLength(1);
  expect(events.indexOf("version")).toBeGreaterThan(events.indexOf("tool_requested"));
  expect(JSON.parse((await sandbox.run(["runs", "show", id, "--json"])).stdout).run.state).toBe("done");
});

test("limits of a tenant are set, kept and taken away", async () => {
  const sandbox = project();
  const limit = async (...args: string[]) => (await sandbox.run(["runs", "limit", "acme", ...args])).stdout;
  expect(await limit()).toBe("acme: no limits\n");
  expect(await limit("--concurrency", "2")).toBe("acme: 2 runs at a time\n");
  expect(await limit("--model-calls", "60")).toBe("acme: 2 runs at a time, 60 model calls a minute\n");
  expect(JSON.parse(await limit("--concurrency", "none", "--json"))).toEqual({
    v: 1,
    tenant: "acme",
    limits: { modelCallsPerMinute: 60 },
  });
  expect(await sandbox.run(["runs", "limit", "acme", "--concurrency", "0"])).toMatchObject({ code: 2 });
});

test("every command of runs answers in JSON", async () => {
  const sandbox = project("Understood.", 'confirm: ["read_file"],');
  const json = async (...args: string[]) => (await sandbox.run(["runs", ...args, "--json"])).stdout;
  const id = await start(sandbox);
  const worked = (await json("work", "--drain", "--trust"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(worked).toMatchObject([
    { v: 1, type: "claimed", id },
    { v: 1, type: "left", id },
  ]);
  expect(JSON.parse(await json("list"))).toMatchObject({ v: 1, counts: { waiting: 1 } });
  expect(JSON.parse(await json("show", id))).toMatchObject({ v: 1, run: { state: "waiting" } });
  expect(JSON.parse(await json("approve", id, "--deny", "no"))).toMatchObject({ v: 1, id });
  expect(JSON.parse(await json("cancel", id))).toEqual({ v: 1, id, cancelled: true });
  expect(JSON.parse(await json("retry", id))).toEqual({ v: 1, id, queued: true });
  expect(JSON.parse(await json("prune", "--older", "0s"))).toEqual({ v: 1, removed: 0 });
});

test("a server that does not answer is named as soon as it takes longer than a second, without its password", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void silent.close());
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const engine = `postgres://agent:secret@127.0.0.1:${port}/runs`;
  const child = new Sandbox().start(["runs", "list", "--json", "--engine", engine]);
  const [line] = await once(child.stderr, "data");
  child.kill("SIGKILL");
  expect(String(line)).toContain("Opening postgres://");
  expect(String(line)).toContain(`127.0.0.1:${port}/runs…`);
  expect(String(line)).not.toContain("secret");
});

test("runs go only to workers in the directory they were started in", async () => {
  const sandbox = project();
  sandbox.write("other/agent.config.mjs", config("Elsewhere."));
  const id = await start(sandbox);
  const elsewhere = sandbox.start(["runs", "work", "--trust"], { cwd: join(sandbox.project, "other") });
  onTestFinished(() => void elsewhere.kill("SIGKILL"));
  await said(elsewhere.stderr, "Working on runs");
  elsewhere.kill("SIGINT");
  expect((await finished(elsewhere)).code).toBe(0);
  await work(sandbox);
  expect((await sandbox.run(["runs", "show", id])).stdout).toContain("All done.");
});

test("--drain does not wait for a run that only a worker elsewhere can take", async () => {
  const sandbox = project();
  const foreign = await sandbox.run(["runs", "start", "--label", "nowhere", "look at a.txt"]);
  const id = await start(sandbox);
  expect((await work(sandbox)).stderr).toMatch(/^Working on runs of dir:/);
  expect((await sandbox.run(["runs", "show", id])).stdout).toContain("All done.");
  expect((await sandbox.run(["runs", "show", foreign.stdout.trim()])).stdout).toMatch(/state:\s+queued/);
});

test.each([
  [["runs", "show", "nothing"], 'There is no run "nothing". List them with: agent runs list'],
  [["runs", "follow", "nothing"], 'There is no run "nothing".'],
  [["runs", "list", "--state", "dome"], '--state has no "dome". Did you mean "done"?'],
  [["runs", "list", "--redis", "redis://127.0.0.1:1"], "--redis goes with a Postgres"],
  [["runs", "list", "--limit", "0"], "--limit must be a whole number of at least 1"],
  [["runs", "prune", "--older", "soon"], "--older must be a time such as 30d, 12h or 90m"],
  [
    ["runs", "list", "--engine", "mysql://u:secret@x/y"],
    "--engine must be a directory or a postgres:// address",
  ],
  [["runs", "start", "x", "--id", "a b"], "id must be 1 to 100 letters"],
  [["runs", "serve", "--port", "70000"], "--port must be a number from 0 to 65535"],
  [["runs", "serve", "--board", "javascript:alert(1)"], "--board must be an address such as https://"],
])("%j is refused with words", async (args, message) => {
  const { code, stderr } = await new Sandbox().run(args);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(stderr).not.toContain("secret");
});

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) =>
  existsSync(path),
);
if (!CHROMIUM) process.stdout.write("Skipped: tests of the page of runs. They need Chromium.\n");

test.skipIf(!CHROMIUM)(
  "the page shows runs live, and decides, in a real browser by keyboard alone",
  async () => {
    const more = 'confirm: ["read_file"], prices: { scripted: { input: 1000, output: 2000 } },';
    const sandbox = project("<img src=x onerror=alert(1)> All done.", more);
    await start(sandbox, "look at <b>a.txt</b>");
    await work(sandbox);
    const board = "http://127.0.0.1:3000/board";
    const server = sandbox.start(["runs", "serve", "--json", "--board", board]);
    onTestFinished(() => void server.kill("SIGINT"));
    const url: string = await new Promise((resolve) => {
      server.stdout.once("data", (chunk: Buffer) => resolve(JSON.parse(chunk.toString()).url));
    });
    const { origin } = new URL(url);
    expect((await fetch(`${origin}/api/runs`)).status).toBe(401);
    expect((await fetch(`${origin}/api/runs`, { headers: { authorization: "Bearer x" } })).status).toBe(401);
    expect((await fetch(`${origin}/etc/passwd`)).status).toBe(404);

    const { launch } = await import("puppeteer-core");
    const browser = await launch({ executablePath: CHROMIUM ?? "", args: ["--no-sandbox"] });
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    await page.goto(url);
    await page.waitForSelector("td .waiting");
    expect(await page.$eval("tbody", (body) => body.textContent)).toContain(
      "waits for a decision about read_file",
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
    // Another process goes on; the page sees it live.
    await work(sandbox);
    await page.waitForFunction("document.querySelector('dd .state').textContent === 'done'");
    const shown = await page.$eval("main", (main) => main.textContent);
    expect(shown).toContain("<img src=x onerror=alert(1)> All done.");
    expect(shown).toContain("hello");
    if (process.env.AGENT_SCREENSHOTS)
      await page.screenshot({
        path: join(process.env.AGENT_SCREENSHOTS, "done.png") as `${string}.png`,
        fullPage: true,
      });
    await page.click("#home");
    await page.waitForSelector("td .done");
    expect(await page.$eval("tbody", (body) => body.textContent)).toContain("$0.040");
    expect(await page.$eval("#board", (link) => [link.getAttribute("href"), link.hidden])).toEqual([
      board,
      false,
    ]);
    expect(
      await page.$$eval("figure svg", (plots) => plots.map((plot) => plot.getAttribute("aria-label"))),
    ).toEqual(["Done: 1 in all", expect.stringContaining("Waiting for a worker: "), "Failed: 0 in all"]);
    if (process.env.AGENT_SCREENSHOTS)
      await page.screenshot({
        path: join(process.env.AGENT_SCREENSHOTS, "list.png") as `${string}.png`,
        fullPage: true,
      });
    expect(problems).toEqual([]);
  },
);
