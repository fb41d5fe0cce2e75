import { execFileSync, spawn } from "node:child_process";
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { describe, expect, test } from "vitest";
import { searchFilesTool, searchTextTool } from "../src/index.js";
import { makeTree, run } from "./tree.js";

/** Section D of the hostile cases, with real files, links, pipes and processes. */

const MKFIFO = "mkfifo";
const text = searchTextTool();
const files = searchFilesTool();

/** The longest time the event loop was held up while `work` ran, in milliseconds. */
async function longestStall(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  await work();
  delay.disable();
  return delay.max / 1e6;
}

/** Empty files in numbered directories, as many as asked for in each; links of one, which are made far faster. */
function makeManyFiles(root: string, directories: number, each: number): void {
  for (let i = 0; i < directories; i++) {
    const directory = join(root, String(i));
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "0"), "");
    for (let j = 1; j < each; j++) linkSync(join(directory, "0"), join(directory, String(j)));
  }
}

describe("expressions", () => {
  test("stops a catastrophic expression in bounded time and never blocks the host", async () => {
    const root = makeTree({ "a.txt": `${"a".repeat(40)}!\n` });
    const stall = await longestStall(async () => {
      const { lines } = await run(text, root, { query: "^(a+)+$", paths: [root], regex: true });
      expect(lines[0]).toContain("No matches");
    });
    expect(stall).toBeLessThan(3000);
  });

  test("stops an expression that even the linear engine cannot run, and the next search works", async () => {
    const root = makeTree({ "a.txt": `${"a".repeat(40)}!\n`, "b.txt": "foo\n" });
    const stall = await longestStall(async () => {
      const query = "^(?=(a+)+$)\\1?x?(a+)+$|foo";
      const { lines, account } = await run(text, root, { query, paths: [root], regex: true }).catch(
        (error) => ({
          lines: [String(error)],
          account: "",
        }),
      );
      expect(lines.join() + account).toMatch(/did not finish in/);
      expect(lines.join()).not.toContain("No matches");
    });
    expect(stall).toBeLessThan(3000);
    expect((await run(text, root, { query: "foo", paths: [root] })).lines).toEqual(["b.txt:1:foo"]);
  });

  test("names the position of an invalid expression; the same text works literally", async () => {
    const root = makeTree({ "a.txt": "foo(bar\n" });
    await expect(text.execute({ query: "foo(bar", paths: [root], regex: true })).rejects.toThrow(
      /position 4/,
    );
    expect((await run(text, root, { query: "foo(bar", paths: [root] })).lines).toEqual(["a.txt:1:foo(bar"]);
  });

  test("supports look-behind and Unicode properties, and refuses other dialects by name", async () => {
    const root = makeTree({ "a.txt": "price: 12€\nΩmega\nplain\n" });
    const found = async (query: string) =>
      (await run(text, root, { query, paths: [root], regex: true })).lines;
    expect(await found("(?<=price: )\\d+")).toEqual(["a.txt:1:price: 12€"]);
    expect(await found("^\\p{Script=Greek}")).toEqual(["a.txt:2:Ωmega"]);
    await expect(found("(?i)plain")).rejects.toThrow(/ignore_case/);
    await expect(found("\\Aplain")).rejects.toThrow(/\\A is not JavaScript syntax/);
    await expect(found("[[:alpha:]]")).rejects.toThrow(/POSIX/);
    await expect(found("\\p{Nonsense}")).rejects.toThrow(/not a Unicode property/);
  });

  test("matches the empty string once a line, capped, and stops", async () => {
    const root = makeTree({ "a.txt": "a\n\nb\n".repeat(500) });
    for (const query of ["x*", "^", "$", "(?:)", "\\b|", "^$|"]) {
      const { lines, account } = await run(text, root, {
        query,
        paths: [root],
        regex: true,
        max_results: 10,
      });
      expect(lines).toHaveLength(10);
      expect(account).toContain("10 of 1500 matching lines");
    }
  });

  test("refuses a query of a million characters, whatever it would be compiled to", async () => {
    for (const more of [{}, { ignore_case: true }, { regex: true }]) {
      const message = await text
        .execute({ query: "é".repeat(1_000_000), paths: ["."], ...more })
        .catch((error: Error) => error.message);
      expect(message).toContain('"query" has 1000000 characters; at most 10000');
    }
    const root = makeTree({ "a.txt": `${"é".repeat(10_000)}\n` });
    for (const more of [{}, { ignore_case: true }, { regex: true }]) {
      const found = await run(text, root, { query: "é".repeat(10_000), paths: [root], count: true, ...more });
      expect(found.lines).toEqual(["a.txt:1"]);
    }
  });

  test("skips a file with a line too long for an expression, not the whole search", async () => {
    const root = makeTree({ "a.txt": "bc\n", "long.txt": "ab".repeat(4_000_000), "z.txt": "aacc\n" });
    const search = (query: string) => run(text, root, { query, paths: [root], regex: true });
    const { lines, account } = await search("(?=[ab])(a|b)+c");
    expect(lines).toEqual(["a.txt:1:bc", "z.txt:1:aacc"]);
    expect(account).toContain("1 unreadable: long.txt (a line is too long for the expression)");
    // Without the look-around nothing has to be remembered, and no line is too long.
    expect((await search("(a|b)+c")).account).toBe("[2 matching lines (2 files); 3 files searched]");
  });

  test("refuses an empty query", async () => {
    await expect(text.execute({ query: "", paths: ["."] })).rejects.toThrow('"query"');
  });
});

describe("trees", () => {
  test("skips and counts a pipe in the tree, and refuses it as a path", async () => {
    const root = makeTree({ "a.txt": "foo\n" });
    execFileSync(MKFIFO, [join(root, "pipe")]);
    const { lines, account } = await run(text, root, { query: "foo", paths: [root] });
    expect(lines).toEqual(["a.txt:1:foo"]);
    expect(account).toContain("1 not regular files");
    const named = await run(text, root, { query: "foo", paths: [join(root, "pipe"), join(root, "a.txt")] });
    expect(named.lines).toEqual(["a.txt:1:foo"]);
    expect(named.account).toContain("pipe (not a regular file)");
    expect((await run(files, root, { pattern: "**", path: root })).lines).toEqual(["a.txt"]);
  });

  test("refuses a device as a path", async () => {
    expect(await text.execute({ query: "foo", paths: ["/dev/zero"] })).toContain(
      "/dev/zero (not a regular file)",
    );
  });

  test("stops at a cycle of links, and finds each match once", async () => {
    const root = makeTree({ "a/b/c.txt": "foo\n" });
    symlinkSync(root, join(root, "a/b/up"));
    symlinkSync("self", join(root, "self"));
    const { lines, account } = await run(text, root, { query: "foo", paths: [root] });
    expect(lines).toEqual(["a/b/c.txt:1:foo"]);
    expect(account).toContain("2 links not followed");
    expect((await run(files, root, { pattern: "**", path: root })).lines).toEqual(["a/b/c.txt"]);
    await expect(text.execute({ query: "foo", paths: [join(root, "self")] })).rejects.toThrow(/self/);
  });

  test("caps and counts a million matches", async () => {
    const root = makeTree({ "a.txt": "foo\n".repeat(1_000_000) });
    const { lines, account } = await run(text, root, { query: "foo", paths: [root] });
    expect(lines).toHaveLength(200);
    expect(account).toContain("200 of 1000000 matching lines shown");
  });

  test("names what may not be read, and finds the rest", async (context) => {
    const root = makeTree({ "a.txt": "foo\n", "locked.txt": "foo\n", "locked/b.txt": "foo\n" });
    chmodSync(root, 0o755);
    chmodSync(join(root, "locked.txt"), 0);
    chmodSync(join(root, "locked"), 0);
    const isRoot = process.getuid?.() === 0;
    try {
      // Root may read everything, so the search runs in a process that gave that up.
      const script = `
        ${isRoot ? "process.setgid(65534); process.setuid(65534);" : ""}
        const { searchTextTool } = await import(${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)});
        process.stdout.write(await searchTextTool().execute({ query: "foo", paths: [${JSON.stringify(root)}] }));`;
      const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
        encoding: "utf8",
      });
      expect(output).toContain("a.txt:1:foo\n");
      expect(output).toContain("1 matching line (1 file); 1 file searched; skipped 2 unreadable: ");
      expect(output).toContain("locked.txt (EACCES)");
      expect(output).toContain("locked/ (EACCES)");
    } catch (error) {
      if (isRoot && String(error).includes("EACCES: permission denied, open")) {
        context.skip("the unprivileged user may not read this checkout");
      }
      throw error;
    } finally {
      chmodSync(join(root, "locked"), 0o755);
    }
  });

  test("finds files with search_files in a directory where only names can be read, sorts them last, and does not report a named file as missing", (context) => {
    const root = makeTree({ "a.txt": "", "shown/b.txt": "", "hidden/c.txt": "" });
    chmodSync(root, 0o755);
    chmodSync(join(root, "shown"), 0o744);
    chmodSync(join(root, "hidden"), 0o700);
    const isRoot = process.getuid?.() === 0;
    if (!isRoot) chmodSync(join(root, "hidden"), 0);
    const script = `
      ${isRoot ? "process.setgid(65534); process.setuid(65534);" : ""}
      const { searchFilesTool } = await import(${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)});
      const tool = searchFilesTool();
      const path = ${JSON.stringify(root)};
      console.log(await tool.execute({ pattern: "{a.txt,shown/*}", path, sort: "newest" }));
      console.log(await tool.execute({ pattern: "hidden/c.txt", path }));`;
    try {
      const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
        encoding: "utf8",
      });
      expect(output.replaceAll(`${root}/`, "")).toBe(
        "a.txt\nshown/b.txt\n[2 files]\n" +
          'Nothing found for "hidden/c.txt", but something was left out.\n[0 files; skipped 1 unreadable: hidden/c.txt (EACCES)]\n',
      );
    } catch (error) {
      if (isRoot && String(error).includes("EACCES: permission denied, open")) {
        context.skip("the unprivileged user may not read this checkout");
      }
      throw error;
    } finally {
      chmodSync(join(root, "shown"), 0o755);
      chmodSync(join(root, "hidden"), 0o755);
    }
  });

  test("names each bad path and searches the others; reports an error if all are bad", async () => {
    const root = makeTree({ "a.txt": "foo\n" });
    const missing = Array.from({ length: 10_000 }, (_, i) => join(root, `missing${i}`));
    const { lines, account } = await run(text, root, {
      query: "foo",
      paths: [...missing, join(root, "a.txt")],
    });
    expect(lines[0]).toBe("a.txt:1:foo");
    expect(lines[1]).toBe("Not searched: missing0: no such file or directory");
    expect(lines.at(-1)).toBe("Not searched: 9990 more of the given paths.");
    expect(account).toContain("1 file searched");
    await expect(text.execute({ query: "foo", paths: [join(root, "x")] })).rejects.toThrow(/x: no such file/);
  });

  test("leaves out 200 000 files in node_modules and .git, or stops at the deadline with a notice", async () => {
    const root = makeTree({
      ".gitignore": "node_modules/\n",
      "a.txt": "foo\n",
      "node_modules/b.txt": "foo\n",
    });
    for (const part of ["node_modules", ".git"]) makeManyFiles(join(root, part), 1000, 100);
    const usual = await run(text, root, { query: "foo", paths: [root] });
    expect(usual.lines).toEqual(["a.txt:1:foo"]);
    expect(usual.account).toContain("2 files searched; skipped 2 directories ignored");
    const named = await run(files, root, { pattern: "**", path: root });
    expect(named.lines).toEqual([".gitignore", "a.txt"]);

    const hurried = {
      text: searchTextTool({ timeoutMs: 5 }),
      files: searchFilesTool({ timeoutMs: 5 }),
    };
    const all = { include_ignored: true };
    // With a match before the deadline it is a result that says so, without one an error.
    const outcome = await run(hurried.text, root, { query: "foo", paths: [root], ...all }).then(
      ({ text: result }) => result,
      (error: Error) => error.message,
    );
    expect(outcome).toMatch(/stopped after 5 ms/i);
    expect(outcome).not.toContain("No matches");
    await expect(hurried.files.execute({ pattern: "**/b.txt", path: root, ...all })).rejects.toThrow(
      /Stopped after 5 ms/,
    );

    const patient = searchTextTool({ timeoutMs: 120_000 });
    const whole = await run(patient, root, { query: "foo", paths: [root], ...all });
    expect(whole.lines).toEqual(["a.txt:1:foo", "node_modules/b.txt:1:foo"]);
    expect(whole.account).toContain("200003 files searched");
  }, 120_000);

  test("is not disturbed by files that come and go during the search", async () => {
    const root = makeTree({ "stays.txt": "foo\n" });
    const churn = spawn(process.execPath, [
      "-e",
      `const fs = require("fs");
       for (;;) for (let i = 0; i < 200; i++) {
         fs.mkdirSync(${JSON.stringify(root)} + "/d" + i, { recursive: true });
         fs.writeFileSync(${JSON.stringify(root)} + "/d" + i + "/f.txt", "bar\\n");
         fs.rmSync(${JSON.stringify(root)} + "/d" + (i + 100) % 200, { recursive: true, force: true });
       }`,
    ]);
    try {
      for (let i = 0; i < 20; i++) {
        const { lines } = await run(text, root, { query: "foo", paths: [root] });
        expect(lines).toEqual(["stays.txt:1:foo"]);
        expect((await run(files, root, { pattern: "stays*", path: root })).lines).toEqual(["stays.txt"]);
      }
    } finally {
      const ended = new Promise((resolve) => churn.once("exit", resolve));
      churn.kill("SIGKILL");
      await ended;
    }
  });

  test("treats dotfiles alike in both tools: found, except .git", async () => {
    const root = makeTree({ ".hidden/.x": "foo\n", ".git/y": "foo\n" });
    expect((await run(text, root, { query: "foo", paths: [root] })).lines).toEqual([".hidden/.x:1:foo"]);
    expect((await run(files, root, { pattern: "**", path: root })).lines).toEqual([".hidden/.x"]);
  });

  test("takes a path with glob characters literally", async () => {
    const root = makeTree({ "[a]{b}*?/x.txt": "foo\n", "a/x.txt": "foo\n" });
    const odd = join(root, "[a]{b}*?");
    expect((await run(text, root, { query: "foo", paths: [odd] })).lines).toEqual(["[a]{b}*?/x.txt:1:foo"]);
    expect((await run(files, root, { pattern: "*.txt", path: odd })).lines).toEqual(["[a]{b}*?/x.txt"]);
  });

  test("names with a line break or an escape sequence stay on one line", async () => {
    const root = makeTree({ "new\nline\x1b[2J.txt": "foo\n" });
    expect((await run(text, root, { query: "foo", paths: [root] })).lines).toEqual([
      "new\\nline\\x1b[2J.txt:1:foo",
    ]);
    expect((await run(files, root, { pattern: "**", path: root })).lines).toEqual(["new\\nline\\x1b[2J.txt"]);
  });

  test("counts a file name that is not UTF-8 as unreadable, and does not skip it silently", async () => {
    const root = makeTree({ "a.txt": "foo\n" });
    writeFileSync(
      Buffer.concat([Buffer.from(`${root}/bad`), Buffer.from([0xff]), Buffer.from(".txt")]),
      "foo\n",
    );
    const { account } = await run(text, root, { query: "foo", paths: [root] });
    expect(account).toContain("1 unreadable");
    expect(account).toContain("name is not UTF-8");
  });

  test("counts as unreadable also a directory whose name is not UTF-8", async () => {
    const root = makeTree({ "a.txt": "foo\n" });
    mkdirSync(Buffer.concat([Buffer.from(`${root}/bad`), Buffer.from([0xff])]));
    const expected = "skipped 1 unreadable: bad\ufffd/ (name is not UTF-8)]";
    expect((await run(text, root, { query: "foo", paths: [root] })).account).toContain(expected);
    expect((await run(files, root, { pattern: "**", path: root })).account).toContain(expected);
  });
});

describe("globs", () => {
  test.each([
    ["26 pairs of braces", "{a,b}".repeat(26)],
    ["a range of a hundred million", "{1..100000000}"],
    ["20 000 open braces", "{".repeat(20_000)],
    ["a nest of braces", "{a,{b,{c,{d,".repeat(300)],
    ["a nest of extglobs", `${"+(a|".repeat(60)}a${")".repeat(60)}b`],
    ["200 globstars", `${"**/".repeat(200)}x`],
    ["stars without end", `${"*a".repeat(60)}b`],
  ])("refuses or answers %s in bounded time, with the host free", async (_, pattern) => {
    const root = makeTree({ [`${"a".repeat(60)}.txt`]: "", "x/y/z/a.txt": "" });
    const stall = await longestStall(async () => {
      const outcome = await files.execute({ pattern, path: root }).catch((error: Error) => error.message);
      expect(outcome).not.toBe("");
      const filtered = await text
        .execute({ query: "x", paths: [root], glob: pattern })
        .catch((error: Error) => error.message);
      expect(filtered).not.toBe("");
    });
    expect(stall).toBeLessThan(3000);
    expect((await run(files, root, { pattern: "**/z/*", path: root })).lines).toEqual(["x/y/z/a.txt"]);
  });

  test("finds nothing outside a root, however the path is written", async () => {
    const root = makeTree({ "in/a.txt": "foo\n", "outside.txt": "foo\n", "in-evil/b.txt": "foo\n" });
    const inside = join(root, "in");
    symlinkSync(root, join(inside, "up"));
    symlinkSync(join(root, "outside.txt"), join(inside, "link.txt"));
    const confined = {
      files: searchFilesTool({ root: inside }),
      text: searchTextTool({ root: inside }),
    };
    const patterns = [
      "../**",
      `${root}/**`,
      "{..,.}/outside.txt",
      "{..,.}/**",
      "up/**",
      "../in-evil/*",
      "a/../../outside.txt",
    ];
    for (const pattern of patterns) {
      const outcome = await confined.files
        .execute({ pattern, path: inside })
        .catch((error: Error) => error.message);
      expect(outcome).not.toMatch(/^[^"]*(outside|b)\.txt$/m);
    }
    for (const path of [
      root,
      `${inside}/..`,
      `${inside}/up`,
      `${inside}/link.txt`,
      `${root}/in-evil`,
      "/proc/self/cwd",
    ]) {
      await expect(confined.text.execute({ query: "foo", paths: [path] })).rejects.toThrow(/outside/);
      await expect(confined.files.execute({ pattern: "*", path })).rejects.toThrow(/outside/);
    }
    const { lines } = await run(confined.text, root, { query: "foo", paths: [inside] });
    expect(lines).toEqual(["in/a.txt:1:foo"]);
  });
});
