import { describe, expect, test } from "vitest";
import { htmlPage } from "./htmlPage.js";

const URL_OF_PAGE = new URL("https://docs.example/guide/start.html");
const { signal } = new AbortController();
const markdown = async (html: string) => (await htmlPage(html, URL_OF_PAGE, signal)).text;

const LOREM = "The quick brown fox jumps over the lazy dog while the band plays on and on. ".repeat(30);

describe("HTML as Markdown", () => {
  test.for([
    ["headings", "<h1>One</h1><h2>Two <em>x</em></h2>", "# One\n\n## Two *x*"],
    ["paragraphs", "<p>a\n  b</p>\n<p>c</p>", "a b\n\nc"],
    ["unclosed paragraphs", "<p>a<p>b<div>c</div>d", "a\n\nb\n\nc\n\nd"],
    ["emphasis", "a <b> bold </b>and <i>it</i>, <b></b>x", "a **bold** and *it*, x"],
    ["line breaks", "a<br>b<br/>c", "a\nb\nc"],
    ["a relative link", '<a href="../api?x=1#y">API</a>', "[API](https://docs.example/api?x=1#y)"],
    ["a link without text", '<a href="/x"><img src="i.png"></a>end', "end"],
    ["a link with parentheses", '<a href="/a_(b)">t</a>', "[t](https://docs.example/a_%28b%29)"],
    ["links that open no page", '<a href="javascript:x()">a</a> <a href="#b">bc</a>', "a bc"],
    ["the sign of a heading", '<h2>Use<a class="headerlink" href="#use">¶</a></h2>', "## Use"],
    [
      "a block in a link",
      '<a href="/x"><h3>Title</h3><p>text</p></a>',
      "[Title text](https://docs.example/x)",
    ],
    ["an image", '<img alt="A cat" src="/cat.png">', "![A cat](https://docs.example/cat.png)"],
    ["inline code", "run <code>npm  test</code> or <code>a`b</code>", "run `npm test` or ``a`b``"],
    [
      "a code block with its language",
      '<pre><code class="hljs language-ts">const a = 1;\n  b();\n</code></pre>',
      "```ts\nconst a = 1;\n  b();\n```",
    ],
    ["a code block with fences in it", "<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"],
    [
      "highlighted code",
      '<div class="highlight-source-python"><pre>x = <span>1</span></pre></div>',
      "```python\nx = 1\n```",
    ],
    [
      "code whose class is the plain name of its language",
      '<pre class="rust rust-example-rendered"><code>fn f() {}</code></pre>',
      "```rust\nfn f() {}\n```",
    ],
    ["lists", "<ul><li>a<li>b<ol start=3><li>c</li></ol></li></ul>", "- a\n- b\n  3. c"],
    ["paragraphs in a list", "<ul><li><p>a</p><p>b</p></li></ul>", "- a\n\n  b"],
    ["a quote", "<blockquote><p>a</p><p>b</p></blockquote>c", "> a\n>\n> b\n\nc"],
    ["a definition list", "<dl><dt>a</dt><dd>b</dd></dl>", "a\n: b"],
    [
      "a table",
      "<table><tr><th>a<th>b<tr><td>1|2<td><p>x</p><p>y</p></table>",
      "| a | b |\n| --- | --- |\n| 1\\|2 | x y |",
    ],
    [
      "a table with spans",
      "<table><tr><td colspan=2>a<tr><td>1<td>2</table>",
      "| a |  |\n| --- | --- |\n| 1 | 2 |",
    ],
    [
      "a table for layout",
      "<table><tr><td><table><tr><td>a<td>b</table></table>",
      "| a | b |\n| --- | --- |",
    ],
    ["entities", "&lt;b&gt; &amp;amp; &eacute; &#x1F600;", "<b> &amp; é 😀"],
    ["scripts, styles and comments", "a<script>x('</p>')</script><style>p{}</style><!-- c -->b", "ab"],
    ["a title without a heading", "<title>The  title</title><p>text</p>", "# The title\n\ntext"],
    [
      "a base address",
      '<base href="https://other.example/x/"><a href="y">t</a>',
      "[t](https://other.example/x/y)",
    ],
    ["hidden text", 'a<p hidden>b</p><p style="display: none">c</p><p aria-hidden=true>d</p>e', "ae"],
    [
      "no text that is too small or outside of the screen",
      '<p style="font-size:1px">a</p><p style="font-size: 0 !important">b</p><p style="opacity:.01">c</p><p style="position:absolute; left:-9999px">d</p><p style="clip: rect(0, 0, 0, 0)">e</p><p style="font-size:10px; opacity:0.9; left:-9px">f</p>',
      "f",
    ],
    ["a frame", '<iframe src="/inner">no frames</iframe>x', "x\n\n[frame](https://docs.example/inner)"],
    ["foreign content", "<svg><text>x</text></svg>a<svg/>b", "ab"],
  ] as const)("writes %s", async ([, html, expected]) => {
    expect(await markdown(html)).toBe(expected);
  });
});

describe("the main content", () => {
  const nav = `<nav>${'<a href="/n">Navigation</a> '.repeat(40)}</nav>`;
  const side = `<div class="sidebar">${"side text ".repeat(30)}</div>`;

  test.for([
    ["main", `${nav}<main><h1>Title</h1><p>${LOREM}</p></main><footer>${"legal ".repeat(50)}</footer>`],
    ["article", `${nav}<div><article><h1>Title</h1><p>${LOREM}</p></article>${side}</div>`],
    ["the densest element", `${nav}<div><div><h1>Title</h1><p>${LOREM}</p></div>${side}</div>`],
    ["role=main", `${nav}<div role="main"><h1>Title</h1><p>${LOREM}</p></div>${side}`],
  ] as const)("is found by %s", async ([, html]) => {
    const { text, notes } = await htmlPage(html, URL_OF_PAGE, signal);
    expect(text).toBe(`# Title\n\n${LOREM.trim()}`);
    expect(notes.join()).toMatch(/characters outside the main content were left out/);
  });

  test("is the whole page if the page is short", async () => {
    expect(await markdown('<nav><a href="/n">Start</a></nav><p>text</p>')).toBe(
      "[Start](https://docs.example/n)\n\ntext",
    );
  });

  test("is not lost if a class of the whole page looks like navigation", async () => {
    expect(await markdown(`<div class="has-nav sidebar"><p>${LOREM}</p></div>`)).toContain("quick brown fox");
  });

  test("collects the links to its own host from the whole page", async () => {
    const { links } = await htmlPage(
      `<nav><a href="/a#x">a</a><a href="https://evil.example/">e</a><a href="b">b</a></nav><p>${LOREM}</p>`,
      URL_OF_PAGE,
      signal,
    );
    expect(links).toEqual(["https://docs.example/a", "https://docs.example/guide/b"]);
  });
});

describe("hostile pages", () => {
  // Each takes seconds or overflows the stack with a parser that is quadratic or recursive.
  const MANY = 300_000;
  test.for([
    ["deep nesting", "<div>".repeat(MANY)],
    ["deep nesting and end tags that match nothing", "<div>".repeat(MANY) + "</span>".repeat(MANY)],
    ["end tags of the outermost element", `<b>${"<i>".repeat(MANY)}${"</b>".repeat(MANY)}`],
    ["nested lists", "<ul><li>".repeat(MANY)],
    ["nested quotes with text", "<blockquote>x".repeat(MANY)],
    ["nested tables", "<table><tr><td>".repeat(MANY)],
    ["nested links and marks", "<a href=x><b>".repeat(MANY)],
    [
      "many rows and one wide row",
      `<table><tr>${"<td>".repeat(50_000)}${"<tr><td>x".repeat(50_000)}</table>`,
    ],
    ["wide spans", `<table>${'<tr><td colspan="999999999">x<td>y'.repeat(10_000)}</table>`],
    ["attributes", `<p ${"a=1 ".repeat(MANY)}>`],
    ["an unclosed comment", `<!--${"-- ".repeat(MANY)}`],
    ["an unclosed tag", `<p ${"x".repeat(4 * MANY)}`],
    ["unclosed entities", "&amp".repeat(MANY)],
    ["backticks", `<code>${"` ".repeat(MANY)}</code>`],
    ["white space", `<p>${" \n".repeat(4 * MANY)}x</p>`],
    ["one long line", "word ".repeat(2_000_000)],
    ["forms", "<form>".repeat(MANY)],
    ["opening brackets", "<".repeat(4 * MANY)],
  ] as const)("are read in linear time: %s", async ([, html]) => {
    expect(await markdown(html)).toBeTypeOf("string");
  });

  // A few hundred kilobytes that would become hundreds of megabytes.
  const LONG_BASE = `<base href="https://docs.example/${"x".repeat(8000)}/">`;
  const LISTS = '<ol start="9007199254740990"><li>'.repeat(8);
  test.for([
    ["short links under a long base address", LONG_BASE + numbered((n) => `<a href="${n}">${n}</a> `)],
    ["one short link many times", LONG_BASE + '<a href="1">1</a> '.repeat(20_000)],
    ["images under a long base address", LONG_BASE + numbered((n) => `<img src="${n}" alt="${n}"> `)],
    [
      "links that grow when they are encoded",
      numbered((n) => `<a href="/${"あ".repeat(40)}${n}">x</a> `, 5000),
    ],
    [
      "a base address that grows",
      `<base href="https://docs.example/${"あ".repeat(8000)}/">${numbered((n) => `<a href="${n}">${n}</a> `)}`,
    ],
    ["lines of code in nested lists", `${LISTS}<pre>x${"\n".repeat(300_000)}x</pre>`],
  ] as const)("do not grow into much more text: %s", async ([, html]) => {
    const { text, links } = await htmlPage(html, URL_OF_PAGE, signal);
    expect(text.length).toBeLessThan(8_000_000);
    expect(links.join("").length).toBeLessThan(8_000_000);
  });

  function numbered(write: (n: number) => string, count = 20_000): string {
    return Array.from({ length: count }, (_, n) => write(n)).join("");
  }

  test("keep the text of links whose addresses are too many, and say so", async () => {
    const { text, notes } = await htmlPage(
      LONG_BASE + numbered((n) => `<a href="${n}">link ${n}</a> `, 1000),
      URL_OF_PAGE,
      signal,
    );
    expect(text).toMatch(/\) link 999$|link 998 link 999$/);
    expect(notes.join()).toContain("too many links: some are shown without their addresses");
  });

  test("keep their text when they have too many elements", async () => {
    const { text, notes } = await htmlPage(`${"<b>x</b>".repeat(MANY)}<p>the end</p>`, URL_OF_PAGE, signal);
    expect(text).toMatch(/the end$/);
    expect(notes.join()).toContain("too many elements");
  });

  test("stop being read when the call is aborted", async () => {
    const controller = new AbortController();
    const reading = htmlPage("<p>x".repeat(1_000_000), URL_OF_PAGE, controller.signal);
    controller.abort(new Error("stopped by the user"));
    await expect(reading).rejects.toThrow("stopped by the user");
  });
});
