// What web_fetch adds to fetching and parsing a page, and how long hostile pages hold up other work. All pages come from a
// server on this machine. Build first: pnpm exec turbo run build. Then: pnpm bench web [rounds]
import { createRequire } from "node:module";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { comparePairs, wallTime } from "./support/measure.mjs";
import { createReport } from "./support/report.mjs";

const ROUNDS = Number(process.argv[2] ?? 30);
const MIB = 1024 * 1024;
const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const from = createRequire(path("../packages/tools-web/package.json"));
const { ToolRegistry, registerPack } = await import(path("../packages/core/dist/index.js"));
const pack = await import(path("../packages/tools-web/dist/index.js"));
const { parseDocument } = await import(from.resolve("htmlparser2"));

/** A page of documentation: prose with links, lists, code and tables, and navigation around it. */
function documentation(bytes) {
  const section = (n) => `<section id="s${n}"><h2>Section ${n} <a class="headerlink" href="#s${n}">¶</a></h2>
<p>The function <code>read(path, ${n})</code> returns the text of a file. See <a href="/guide/${n}.html">the guide</a> and
<em>the reference</em> for <strong>every</strong> option; it &mdash; like all others &mdash; throws for a directory.</p>
<ul><li>First <a href="/a/${n}">item</a></li><li>Second item with some more text in it</li></ul>
<div class="highlight-python"><pre><span class="k">def</span> f(x):\n    <span class="k">return</span> x + ${n}\n</pre></div>
<table><thead><tr><th>name</th><th>default</th></tr></thead><tbody><tr><td>limit</td><td>${n}</td></tr></tbody></table></section>\n`;
  const head = `<!doctype html><title>Reference</title><nav>${'<a href="/x">Navigation</a>'.repeat(200)}</nav><main><h1>Reference</h1>`;
  let html = head;
  for (let n = 0; html.length < bytes; n++) html += section(n);
  return `${html}</main>`;
}

const PAGES = {
  "/1mb": documentation(MIB),
  "/10mb": documentation(10 * MIB - 2000),
  "/line": "word ".repeat(2 * MIB),
  "/deep": "<div>".repeat(2 * MIB),
};

// In its own thread: the time that the server takes must not count as the time of a client.
const server = new Worker(
  `const { parentPort, workerData } = require("node:worker_threads");
   require("node:http").createServer((request, response) => {
     response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(workerData[request.url]);
   }).listen(0, "127.0.0.1", function () { parentPort.postMessage(this.address().port); });`,
  {
    eval: true,
    workerData: Object.fromEntries(Object.entries(PAGES).map(([name, html]) => [name, Buffer.from(html)])),
  },
);
const port = await new Promise((resolve) => server.once("message", resolve));
const url = (name) => `http://127.0.0.1:${port}${name}`;

/** One call of a new registration: nothing is in its cache. */
async function webFetch(name) {
  const registry = new ToolRegistry();
  const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };
  registerPack(registry, pack, { context, options: { allow: [`127.0.0.1:${port}`] } });
  registry.enable("web_fetch");
  const { outcome, text } = await registry.run("web_fetch", { url: url(name), limit: 100_000 });
  if (outcome !== "ok") throw new Error(text);
}

async function fetchAndParse(name) {
  const response = await fetch(url(name));
  parseDocument(await response.text());
}

const report = createReport("web", "Web pages");
const pages = await comparePairs({
  rounds: ROUNDS,
  warmUp: 3,
  ours: () => webFetch("/1mb"),
  theirs: () => fetchAndParse("/1mb"),
});
report.add({
  work: "web_fetch of a 1 MB page",
  unit: "× fetch and parse alone",
  reach: "≤ 1.5",
  values: pages.ratios,
});
report.add({ work: "web_fetch of a 1 MB page, time", unit: "ms", values: pages.ours });
report.add({
  work: "web_fetch of a 1 MB page, time",
  who: "fetch and htmlparser2",
  unit: "ms",
  values: pages.theirs,
});

for (const [name, what] of [
  ["/10mb", "10 MB of documentation"],
  ["/line", "10 MB on one line"],
  ["/deep", "two million nested elements"],
]) {
  const [calls, blocked] = [[], []];
  for (let round = 0; round < 5; round++) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    calls.push(await wallTime(() => webFetch(name)));
    delay.disable();
    blocked.push(delay.max / 1e6);
  }
  report.add({ work: `web_fetch of ${what}`, unit: "ms", values: calls });
  report.add({ work: `longest pause of other work: ${what}`, unit: "ms", values: blocked });
}
report.save();
await server.terminate();
