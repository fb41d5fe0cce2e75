import type { ChatMessage } from "@agent/core";
import { describe, expect, test } from "vitest";
import { exportHtml } from "./html.js";
import { exportMarkdown } from "./markdown.js";

const without = (messages: readonly ChatMessage[]) => ({
  sessionContext: messages,
  detailsOf: () => undefined,
});
const exportHtmlOf = (messages: readonly ChatMessage[], session: string): string =>
  exportHtml(without(messages), session);
const exportMarkdownOf = (messages: readonly ChatMessage[], session: string): string =>
  exportMarkdown(without(messages), session);

const MESSAGES: ChatMessage[] = [
  { role: "user", content: "list <b>files</b>" },
  {
    role: "assistant",
    content: "Sure.",
    tool_calls: [{ id: "1", type: "function", function: { name: "list_dir", arguments: '{"path":"."}' } }],
  },
  { role: "tool", tool_call_id: "1", content: "a.txt\n```\n<script>alert(1)</script>" },
  {
    role: "assistant",
    content:
      "# Done\n\n- **one** `<i>`\n- two\n\n| a | b |\n|---|---|\n| 1 | [x](https://e.org) |\n\n```js\nlet a = '</code>';\n```\n[bad](javascript:alert(1)) <img src=x onerror=alert(1)>",
    tool_calls: [],
  },
];

describe("an exported conversation", () => {
  test("as Markdown has the messages, the calls and their results", () => {
    const text = exportMarkdownOf(MESSAGES, "20260101-000000-abcd");
    expect(text).toContain(
      "# 20260101-000000-abcd\n\n## You\n\nlist \\<b>files\\</b>\n\n## Agent\n\nSure.\n\n**list_dir**",
    );
    // The fence is longer than the one inside.
    expect(text).toContain("````\na.txt\n```\n<script>alert(1)</script>\n````");
  });

  test.each([
    ["![x](https://e.org/a.png)", "\\![x](https://e.org/a.png)"],
    ["![x][ref]\n\n[ref]: https://e.org/a.png", "\\![x][ref]"],
    ["[![badge](https://e.org/b.svg)](https://e.org)", "[\\![badge](https://e.org/b.svg)](https://e.org)"],
    ["\\![x](https://e.org/a.png)", "\n\\![x](https://e.org/a.png)"],
    ["\\\\![x](https://e.org/a.png)", "\n\\\\\\![x](https://e.org/a.png)"],
    ["an open ` tick\n![x](https://e.org/a.png)", "\n\\![x](https://e.org/a.png)"],
  ])("as Markdown loads no image: %j", (content, expected) => {
    const text = exportMarkdownOf([{ role: "assistant", content, tool_calls: [] }], "t");
    expect(text).toContain(expected);
    expect(text).not.toMatch(/(?<!\\)(?:\\\\)*!\[/);
  });

  test("as Markdown keeps code about images as it is", () => {
    const content = "`![a](b)`\n\n```md\n![c](d)\n```";
    expect(exportMarkdownOf([{ role: "assistant", content, tool_calls: [] }], "t")).toContain(content);
  });

  test("as HTML closes code with as many backticks as it was opened with", () => {
    const page = exportHtmlOf(
      [{ role: "assistant", content: "``a ` b`` and `c` and ``` d", tool_calls: [] }],
      "x",
    );
    expect(page).toContain("<code>a ` b</code> and <code>c</code> and ``` d");
  });

  test("as HTML has the code blocks that the chat shows", () => {
    const answer = [
      "````md",
      "```js",
      "let a;",
      "```",
      "````",
      "```a``` is inline",
      "~~~",
      "~~~ js",
      "x",
      "~~~",
      "after",
    ].join("\n");
    const page = exportHtmlOf([{ role: "assistant", content: answer, tool_calls: [] }], "x");
    expect(page).toContain("<pre><code>```js\nlet a;\n```</code></pre>");
    expect(page).toContain("<p><code>a</code> is inline</p>");
    expect(page).toContain("<pre><code>~~~ js\nx</code></pre>\n<p>after</p>");
  });

  test("as HTML is one page in which nothing runs", () => {
    const page = exportHtmlOf(MESSAGES, "</title><script>");
    expect(page).not.toMatch(/<script/i);
    expect(page).not.toMatch(/<img src=x/);
    expect(page).not.toContain('href="javascript');
    expect(page).toContain("default-src 'none'");
    expect(page).toContain("list &lt;b&gt;files&lt;/b&gt;");
  });

  test("is written in one pass over text made to be slow, and nothing in it is lost", () => {
    const ticks = `a ${"`".repeat(200_000)}`;
    const result = "` ".repeat(300_000);
    const messages: ChatMessage[] = [
      {
        role: "assistant",
        content: `${ticks}\nb \`c\` \`\`d\`\` e\``,
        tool_calls: [{ id: "1", type: "function", function: { name: "x", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "1", content: result },
    ];
    const fences = exportHtmlOf(
      [{ role: "assistant", content: "```\n".repeat(200_000), tool_calls: [] }],
      "t",
    );
    expect(fences.match(/<pre>/g)).toHaveLength(100_000);
    expect(exportHtmlOf(messages, "t")).toContain(`<p>${ticks}<br>b <code>c</code> <code>d</code> e\`</p>`);
    expect(exportMarkdownOf(messages, "t")).toContain(result.trimEnd());
  });

  test("as HTML folds attached files, and shows the text of a result without a view", () => {
    const page = exportHtmlOf(
      [
        {
          role: "user",
          content: [
            { type: "text", text: "look at @a.ts" },
            { type: "text", text: '<file path="a.ts">\nlet a;\n</file>' },
          ],
        },
        {
          role: "assistant",
          content: "",
          tool_calls: [
            {
              id: "1",
              type: "function",
              function: { name: "run_bash", arguments: '{"command":"npm test"}' },
            },
          ],
        },
        { role: "tool", tool_call_id: "1", content: "2 failed\n" },
      ],
      "20260101-000000-abcd",
    );
    expect(page).toContain('<section class="you">look at @a.ts</section><details><summary>a.ts</summary>');
    expect(page).toContain("<summary><b>run_bash</b> npm test</summary>");
    expect(page).toContain("<pre>2 failed</pre>");
    expect(page).toContain("20260101-000000-abcd · 3 messages");
  });

  test("as HTML is pleasant to read", () => {
    const page = exportHtmlOf(MESSAGES, "t");
    expect(page).toContain("<h2>Done</h2>");
    expect(page).toContain("<ul><li><strong>one</strong> <code>&lt;i&gt;</code></li><li>two</li></ul>");
    expect(page).toContain(
      '<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td><a href="https://e.org" rel="noreferrer">x</a></td></tr></table>',
    );
    expect(page).toContain("<pre><code>let a = &#39;&lt;/code&gt;&#39;;</code></pre>");
    expect(page).toContain("<title>list &lt;b&gt;files&lt;/b&gt;</title>");
    expect(page).toContain("<details><summary><b>list_dir</b> .</summary>");
  });

  test("as Markdown shows the author of each message: no message hides the next one or looks like one", () => {
    const say = (content: string): string => {
      const answer = { role: "assistant", content, tool_calls: [] } as const;
      return exportMarkdownOf([answer, { role: "user", content: "next" }], "t");
    };
    const next = "\n\n## You\n\nnext\n";
    expect(say("a\n\n## You\n\ndelete it")).toContain("a\n\n\\## You\n\ndelete it");
    expect(say("You\n---\n\ndelete it")).toContain("You\n\\---");
    expect(say("<!-- x")).toContain("\\<!-- x");
    expect(say("a `b\nc` <details> `d`")).toContain("c` \\<details> `d`");
    expect(say("in `<b>` and\n\n```html\n<b>\n```")).toContain("in `<b>` and\n\n```html\n<b>\n```");
    expect(say("- a\n  ```\n  <b>\n  ```")).toContain("  ```\n  <b>\n  ```");
    expect(say("- a\n  ```\n<details>")).toContain("  \\```\n\\<details>");
    expect(say("```\n## You")).toContain(`\`\`\`\n## You\n\`\`\`${next}`);
    expect(say("~~~~\n~~~")).toContain(`~~~~\n~~~\n~~~~${next}`);
    expect(say("| a |\n|---|\n- **b**")).toContain("| a |\n|---|\n- **b**");
    const call = {
      id: "1",
      type: "function",
      function: { name: "x**\n\n## You\n\ny", arguments: "{}" },
    } as const;
    const called = exportMarkdownOf([{ role: "assistant", content: "", tool_calls: [call] }], "t");
    expect(called).toContain("**x\\*\\*\\\\n\\\\n## You\\\\n\\\\ny**");
  });

  test("spells out what is invisible, reorders text or controls a terminal", () => {
    const hidden = "\u001b]52;c;x\u0007 \u202egnp.exe \u{e0041}\u200b";
    const shown = "\\x1b]52;c;x\\x07 \\u202egnp.exe \\u{e0041}\\u200b";
    const call = { id: "1", type: "function", function: { name: hidden, arguments: hidden } } as const;
    const messages: ChatMessage[] = [
      { role: "user", content: hidden },
      { role: "assistant", content: hidden, tool_calls: [call] },
      { role: "tool", tool_call_id: "1", content: hidden },
    ];
    for (const text of [exportHtmlOf(messages, "t"), exportMarkdownOf(messages, "t")]) {
      for (const one of "\u001b\u0007\u202e\u200b\u{e0041}") expect(text).not.toContain(one);
      expect(text.split(shown).length).toBeGreaterThanOrEqual(4);
    }
  });

  test("as HTML leaves marks inside of an address alone", () => {
    const content = "*a [x](https://e.org/_b_/*c*)";
    const page = exportHtmlOf([{ role: "assistant", content, tool_calls: [] }], "t");
    expect(page).toContain('*a <a href="https://e.org/&#95;b&#95;/&#42;c&#42;" rel="noreferrer">x</a>');
  });

  test("draws results by the views that are stored with them", () => {
    const result = MESSAGES.find(({ role }) => role === "tool");
    const hunk = { oldStart: 1, newStart: 1, lines: ["-old <b>", "+new"] };
    const file = { path: "/elsewhere/a", change: "edited" as const, added: 1, removed: 1, hunks: [hunk] };
    const conversation = {
      sessionContext: MESSAGES,
      detailsOf: (message: ChatMessage) =>
        message === result
          ? {
              outcome: "ok" as const,
              durationMs: 5,
              about: { title: "the title <i>", kind: "edit" as const },
              view: { type: "diff" as const, files: [file] },
            }
          : undefined,
    };
    const html = exportHtml(conversation, "s");
    expect(html).toContain("<b>list_dir</b> the title &lt;i&gt; ✓ +1 −1 · 0.0s</summary>");
    expect(html).toContain("<pre>1 -old &lt;b&gt;\n1 +new</pre>");
    expect(exportMarkdown(conversation, "s")).toContain("```diff\n1 -old <b>\n1 +new\n```");
  });
});
