// The corpus of `pnpm bench edits`: edits of small files, written for it. Each snippet has an edit that is right; each
// class below spoils it in a way that models do. `expected` is the file after the edit that was meant; `undefined` where
// no reading is safe and the edit has to be refused.

/** Whole lines of a file, and what they should become. */
const SNIPPETS = [
  {
    path: "cart.ts",
    unit: "  ",
    file: `export function total(items: Item[]): number {\n  let sum = 0;\n  for (const item of items) {\n    if (item.count > 0 && item.name !== "free") {\n      sum += item.price * item.count;\n    }\n  }\n  return sum;\n}\n`,
    old: `    if (item.count > 0 && item.name !== "free") {\n      sum += item.price * item.count;\n    }\n`,
    new: `    if (item.count > 0 && item.name !== "gift") {\n      const price = item.price;\n      if (price > 10) {\n        log("expensive");\n      }\n      sum += price * item.count;\n    }\n`,
  },
  {
    path: "server.go",
    unit: "\t",
    file: `package main\n\nfunc handle(w http.ResponseWriter, r *http.Request) {\n\tname := r.URL.Query().Get("name")\n\tif name == "" {\n\t\tname = "world"\n\t}\n\tfmt.Fprintf(w, "hello %s", name)\n}\n`,
    old: `\tif name == "" {\n\t\tname = "world"\n\t}\n`,
    new: `\tif name == "" {\n\t\tif r.Method == "POST" {\n\t\t\tname = "poster"\n\t\t}\n\t\tname = "nobody"\n\t}\n`,
  },
  {
    path: "report.py",
    unit: "    ",
    file: `class Report:\n    def __init__(self, rows):\n        self.rows = rows\n\n    def mean(self):\n        if len(self.rows) < 1:\n            return "none"\n        return sum(self.rows) / len(self.rows)\n`,
    old: `        if len(self.rows) < 1:\n            return "none"\n`,
    new: `        if len(self.rows) < 1:\n            for hook in self.hooks:\n                hook("empty")\n            return "empty"\n`,
  },
  {
    path: "Main.java",
    unit: "    ",
    file: `public class Main {\n    private static final String NAME = "main";\n\n    public static void main(String[] args) {\n        if (args.length > 1) {\n            System.out.println("too many");\n        }\n    }\n}\n`,
    old: `        if (args.length > 1) {\n            System.out.println("too many");\n        }\n`,
    new: `        if (args.length > 2) {\n            for (String arg : args) {\n                System.out.println("extra: " + arg);\n            }\n        }\n`,
  },
  {
    path: "query.sql",
    unit: "  ",
    file: `SELECT u.id, u.name\nFROM users u\nWHERE u.age > 18\n  AND u.state <> 'closed'\nORDER BY u.name;\n`,
    old: `WHERE u.age > 18\n  AND u.state <> 'closed'\n`,
    new: `WHERE u.age > 21\n  AND u.state <> 'banned'\n  AND u.kind = 'person'\n`,
  },
  {
    path: "build.sh",
    unit: "\t",
    file: `#!/bin/sh\nset -e\nfor file in src/*.c; do\n\tif test -f "$file"; then\n\t\tcc -c "$file" 2>&1\n\tfi\ndone\necho "done"\n`,
    old: `\tif test -f "$file"; then\n\t\tcc -c "$file" 2>&1\n\tfi\n`,
    new: `\tif test -f "$file"; then\n\t\tif test -n "$VERBOSE"; then\n\t\t\techo "$file"\n\t\tfi\n\t\tcc -O2 -c "$file" 2>&1\n\tfi\n`,
  },
  {
    path: "style.css",
    unit: "  ",
    file: `.menu > li {\n  color: red;\n  font-family: "Open Sans";\n}\n\n.menu > li:hover {\n  color: blue;\n}\n`,
    old: `.menu > li {\n  color: red;\n  font-family: "Open Sans";\n`,
    new: `.menu > li {\n  color: green;\n  font-family: "Fira Sans";\n  margin: 0;\n`,
  },
  {
    path: "config.yaml",
    unit: "  ",
    file: `server:\n  host: "localhost"\n  port: 8080\n  limits:\n    rate: 10\n    burst: 20\nlogging:\n  level: info\n`,
    old: `  limits:\n    rate: 10\n    burst: 20\n`,
    new: `  limits:\n    rate: 50\n    burst: 20\n    per:\n      user: 5\n`,
  },
  {
    path: "lib.rs",
    unit: "    ",
    file: `pub fn parse(text: &str) -> Option<u32> {\n    let text = text.trim();\n    if text.len() > 9 && !text.starts_with("0x") {\n        return None;\n    }\n    text.parse().ok()\n}\n`,
    old: `    if text.len() > 9 && !text.starts_with("0x") {\n        return None;\n    }\n`,
    new: `    if text.len() > 12 && !text.starts_with("0x") {\n        if strict() {\n            panic!("too long");\n        }\n        return None;\n    }\n`,
  },
  {
    path: "widget.js",
    unit: "  ",
    file: `const widget = {\n  label: 'Save',\n  render() {\n    if (this.open && this.items.length > 0) {\n      return '<ul>' + this.items.join('') + '</ul>';\n    }\n    return '';\n  },\n};\n`,
    old: `    if (this.open && this.items.length > 0) {\n      return '<ul>' + this.items.join('') + '</ul>';\n    }\n`,
    new: `    if (this.open && this.items.length > 0) {\n      const list = this.items.join('');\n      return '<ol>' + list + '</ol>';\n    }\n`,
  },
];

const meant = ({ file, old, new: text }) => file.replace(old, () => text);
const eachLine = (text, change) =>
  text
    .split("\n")
    .map((line, index) => (line.trim() === "" ? line : change(line, index)))
    .join("\n");
const smart = (text) => text.replace(/"([^"\n]*)"/g, "“$1”").replace(/'([^'\n]*)'/g, "‘$1’");
const numbered =
  (mark, from = 4) =>
  (text) =>
    text
      .replace(/\n$/, "")
      .split("\n")
      .map((line, index) => `${String(from + index).padStart(6)}${mark}${line}`)
      .join("\n") + (text.endsWith("\n") ? "\n" : "");
const fenced = (text) => `\`\`\`\n${text.replace(/\n$/, "")}\n\`\`\``;
const entities = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
const escaped = (text) => JSON.stringify(text).slice(1, -1);
const respace = (text, from, to) =>
  eachLine(text, (line) => {
    const indent = line.slice(0, line.length - line.trimStart().length);
    return to.repeat(indent.length / from.length) + line.trimStart();
  });
const leastDedent = (a, b) => Math.min(...(a + b).match(/^[ \t]*(?=\S)/gm).map((indent) => indent.length));

/** Cases that every snippet gives: both texts spoiled, or one of them. */
function* spoiled(snippet) {
  const { path, file, old, new: text } = snippet;
  const expected = meant(snippet);
  const name = path;
  const both = (change, more = {}) => ({
    path,
    file,
    name,
    oldText: change(old),
    newText: change(text),
    expected,
    ...more,
  });
  yield { class: "exact", ...both((one) => one) };
  yield {
    class: "trailing blanks in old_text",
    ...both((one) => one, { oldText: eachLine(old, (line) => `${line}  `) }),
  };
  if (/["']/.test(old)) yield { class: "typographic quotes in both texts", ...both(smart) };
  if (/["']/.test(old))
    yield { class: "typographic quotes in new_text only", ...both((one) => one, { newText: smart(text) }) };
  const least = leastDedent(old, text);
  if (least > 0) {
    yield {
      class: "both texts without their common indentation",
      ...both((one) => eachLine(one, (line) => line.slice(least))),
    };
  }
  const own = snippet.unit;
  yield {
    class: "both texts with another indentation",
    ...both((one) => respace(one, own, own === "\t" ? "    " : "\t")),
  };
  yield {
    class: "both texts with steps of another width",
    ...both((one) => respace(one, own, own === "  " ? "    " : "  ")),
  };
  yield {
    class: "CRLF in new_text for an LF file",
    ...both((one) => one, { newText: text.replaceAll("\n", "\r\n") }),
  };
  yield {
    class: "LF texts for a CRLF file",
    ...both((one) => one, {
      file: file.replaceAll("\n", "\r\n"),
      expected: expected.replaceAll("\n", "\r\n"),
    }),
  };
  yield {
    class: "new_text without its last line break",
    ...both((one) => one, { newText: text.replace(/\n$/, "") }),
  };
  yield { class: "line numbers in both texts", ...both(numbered("\t")) };
  yield { class: "line numbers in both texts", ...both(numbered("→")) };
  yield {
    class: "line numbers in new_text only",
    ...both((one) => one, { newText: numbered("\t")(text), expected: undefined }),
  };
  yield { class: "a fence around both texts", ...both(fenced) };
  yield {
    class: "a fence around new_text only",
    ...both((one) => one, { newText: fenced(text), expected: undefined }),
  };
  if (/[<>&"]/.test(old)) yield { class: "HTML entities in both texts", ...both(entities) };
  if (/[<>]/.test(old)) {
    yield {
      class: "HTML entities in new_text only",
      ...both((one) => one, { newText: entities(text), expected: undefined }),
    };
  }
  yield { class: "both texts escaped once too often", ...both(escaped) };
  if (/"/.test(old)) {
    yield {
      class: "new_text escaped once too often",
      ...both((one) => one, { newText: text.replaceAll('"', '\\"'), expected: undefined }),
    };
  }
  const lines = text.split("\n");
  const comment = { py: "#", yaml: "#", sh: "#", sql: "--", css: "/*" }[path.split(".").at(-1)] ?? "//";
  const end = comment === "/*" ? " */" : "";
  for (const words of ["... existing code ...", "... rest of the code unchanged ...", "..."]) {
    const indent = /^[ \t]*/.exec(lines[0])[0];
    const newText = `${lines[0]}\n${indent}${comment} ${words}${end}\n`;
    yield { class: "a placeholder in new_text", ...both((one) => one, { newText, expected: undefined }) };
  }
  const missing = old.split("\n");
  if (missing.length > 3) {
    missing.splice(1, 1);
    yield {
      class: "old_text lacks a line",
      ...both((one) => one, { oldText: missing.join("\n"), expected: undefined }),
    };
  }
  yield { class: "old_text occurs twice", ...both((one) => one, { file: file + file, expected: undefined }) };
}

/** Cases of their own. */
const SINGLE = [
  [
    "blanks within lines",
    "types.go",
    "type A struct {\n\tName    string\n\tCreated time.Time\n\tID      int\n}\n",
    "\tName string\n\tCreated time.Time\n",
    "\tName string\n\tUpdated time.Time\n",
    "type A struct {\n\tName    string\n\tUpdated time.Time\n\tID      int\n}\n",
  ],
  [
    "blanks within lines",
    "a.ts",
    "const short     = 1;\nconst longerOne = 2;\n",
    "const short = 1;",
    "const short = 3;",
    "const short     = 3;\nconst longerOne = 2;\n",
  ],
  [
    "blanks within lines",
    "env.sh",
    "export A=1   # first\nexport BB=2  # second\n",
    "export A=1 # first",
    "export A=9 # first",
    "export A=9   # first\nexport BB=2  # second\n",
  ],
  [
    "blanks within lines",
    "a.py",
    'x = "a  b"\ny = "a b"\nprint(x,  y)\n',
    "print(x, y)",
    "print(y, x)",
    'x = "a  b"\ny = "a b"\nprint(y, x)\n',
  ],
  [
    "blanks within lines",
    "t.md",
    "| name   | size |\n| ------ | ---- |\n| a      | 1    |\n",
    "| a | 1 |",
    "| a | 2 |",
    "| name   | size |\n| ------ | ---- |\n| a      | 2    |\n",
  ],
  [
    "blanks within lines",
    "t.md",
    "| name   | size |\n| a      | 1    |\n| a  | 1 |\n",
    "| a | 1    |",
    "| b | 1    |",
    undefined,
  ],
  [
    "blanks within lines",
    "a.css",
    "a { color:  red;  margin: 0 }\nb { color: red }\n",
    "a { color: red; margin: 0 }",
    "a { color: red; margin: 4px }",
    "a { color:  red;  margin: 4px }\nb { color: red }\n",
  ],
  [
    "a typographic apostrophe in a string",
    "a.js",
    "const a = 'It’s done';\n",
    "const a = 'It's done';",
    "const a = 'It's finished';",
    "const a = 'It’s finished';\n",
  ],
  [
    "a typographic apostrophe in a string",
    "a.js",
    "const a = 'It’s done';\n",
    "const a = 'It’s done';",
    "const a = 'It's finished';",
    "const a = 'It’s finished';\n",
  ],
  [
    "a typographic apostrophe in a string",
    "a.js",
    "const a = 'It’s done';\n",
    "const a = 'It's done';",
    "const a = 'It's done, isn't it';",
    undefined,
  ],
  [
    "a typographic apostrophe in a string",
    "a.py",
    "a = 'We’ll see'\nb = 2\n",
    "a = 'We'll see'\nb = 2",
    "a = 'We'll see'\nb = 3",
    "a = 'We’ll see'\nb = 3\n",
  ],
  [
    "a typographic apostrophe in a string",
    "a.json",
    '{ "a": "the “best” one" }\n',
    '{ "a": "the "best" one" }',
    '{ "a": "the "worst" one" }',
    '{ "a": "the “worst” one" }\n',
  ],
  [
    "typography changed on purpose",
    "a.md",
    'She said "yes".\n',
    'She said "yes".',
    "She said “yes”.",
    "She said “yes”.\n",
  ],
  [
    "typography changed on purpose",
    "a.md",
    'She said "yes".\n',
    'She said "yes".',
    "She said “no”.",
    "She said “no”.\n",
  ],
  [
    "typography changed on purpose",
    "a.js",
    "const a = ‘x’;\n",
    "const a = ‘x’;",
    "const a = 'x';",
    "const a = 'x';\n",
  ],
  [
    "typography changed on purpose",
    "a.js",
    "const a = “x”;\n",
    "const a = “x”;",
    'const a = "x";',
    'const a = "x";\n',
  ],
  ["typography changed on purpose", "a.md", "one - two\n", "one - two", "one — two", "one — two\n"],
  [
    "a dash or a special space",
    "a.py",
    "a = b - c  # one\u00a0two\n",
    "a = b – c  # one two",
    "a = b – d  # one two",
    "a = b - d  # one\u00a0two\n",
  ],
  ["a dash or a special space", "a.py", "x = 1 - y\n", "x = 1 − y", "x = 2 − y − z", "x = 2 - y - z\n"],
  ["a dash or a special space", "a.c", "int a;\nint b;\n", "int\u00a0a;", "int\u00a0c;", "int c;\nint b;\n"],
  [
    "a placeholder that belongs there",
    "a.md",
    "Use:\n\nold\n",
    "old",
    "// ... existing code ...",
    "Use:\n\n// ... existing code ...\n",
  ],
  [
    "a placeholder that belongs there",
    "a.py",
    "def f():\n    pass\n",
    "    pass",
    "    ...",
    "def f():\n    ...\n",
  ],
  [
    "a placeholder that belongs there",
    "a.js",
    "f(a);\n// ...\ng(b);\n",
    "f(a);\n// ...\ng(b);",
    "f(c);\n// ...\ng(b);",
    "f(c);\n// ...\ng(b);\n",
  ],
  ["a placeholder that belongs there", "a.js", "f(a);\n", "f(a);", "f(...a);", "f(...a);\n"],
  [
    "a placeholder that belongs there",
    "a.js",
    "f(a);\n",
    "f(a);",
    "// Waits ...\nf(a);",
    "// Waits ...\nf(a);\n",
  ],
  [
    "a placeholder that belongs there",
    "a.ts",
    "const a = 1;\n",
    "const a = 1;",
    "// The same value as in B.\nconst a = 1;",
    "// The same value as in B.\nconst a = 1;\n",
  ],
  [
    "a placeholder in new_text",
    "a.ts",
    "f() {\n  a();\n  b();\n}\n",
    "f() {\n  a();\n  b();\n}",
    "f() {\n  // (rest of the function remains unchanged)\n}",
    undefined,
  ],
  [
    "a placeholder in new_text",
    "a.html",
    "<ul>\n  <li>a</li>\n  <li>b</li>\n</ul>\n",
    "  <li>a</li>\n  <li>b</li>",
    "  <!-- ... existing items ... -->\n  <li>c</li>",
    undefined,
  ],
  [
    "a placeholder in new_text",
    "a.tsx",
    "<A>\n  <B />\n  <C />\n</A>\n",
    "  <B />\n  <C />",
    "  {/* ... existing code ... */}\n  <D />",
    undefined,
  ],
  [
    "a placeholder in new_text",
    "a.rb",
    "def a\n  b\n  c\nend\n",
    "def a\n  b\n  c\nend",
    "def a\n  # … unchanged …\n  d\nend",
    undefined,
  ],
  [
    "indentation by tabs",
    "a.go",
    "func a() {\n\tb()\n}\n",
    "func a() {",
    "func a() {\n    c()",
    "func a() {\n\tc()\n\tb()\n}\n",
  ],
  [
    "indentation by tabs",
    "Makefile",
    "all:\n\tcc a.c\n",
    "all:",
    "all:\n        echo start",
    "all:\n\techo start\n\tcc a.c\n",
  ],
  [
    "indentation by tabs",
    "a.go",
    "func a() {\n\tb()\n}\n",
    "\tb()",
    "\tb()\n\tif x {\n\t    c()\n\t}",
    "func a() {\n\tb()\n\tif x {\n\t\tc()\n\t}\n}\n",
  ],
  [
    "indentation by tabs",
    "a.go",
    "func a() {\n\tif x {\n\t\tb()\n\t}\n}\n",
    "if x {\n    b()\n}",
    "if x {\n    for {\n        b()\n    }\n}",
    "func a() {\n\tif x {\n\t\tfor {\n\t\t\tb()\n\t\t}\n\t}\n}\n",
  ],
  [
    "indentation at a new level",
    "a.py",
    "class A:\n    def f(self):\n        return 1\n",
    "def f(self):\n    return 1",
    "def f(self):\n    if self.x:\n        return 2\n    return 1",
    "class A:\n    def f(self):\n        if self.x:\n            return 2\n        return 1\n",
  ],
  [
    "indentation at a new level",
    "a.py",
    "class A:\n    def f(self):\n        return 1\n",
    "    return 1",
    "    x = 1\n    return x",
    "class A:\n    def f(self):\n        x = 1\n        return x\n",
  ],
  [
    "indentation at a new level",
    "a.py",
    "def f():\n        return 1\n\n\ndef g():\n        return 2\n",
    "    return 1",
    "    if x:\n        return 3\n    return 1",
    "def f():\n        if x:\n                return 3\n        return 1\n\n\ndef g():\n        return 2\n",
  ],
  [
    "indentation at a new level",
    "a.js",
    "if (a) {\n  if (b) {\n    c();\n  }\n}\n",
    "        c();\n    }",
    "        c();\n    }\n    d();",
    "if (a) {\n  if (b) {\n    c();\n  }\n  d();\n}\n",
  ],
  [
    "indentation at a new level",
    "a.js",
    "f({\n  a: 1,\n});\n",
    "    a: 1,",
    "    a: 1,\n    b: {\n        c: 2,\n    },",
    "f({\n  a: 1,\n  b: {\n    c: 2,\n  },\n});\n",
  ],
  [
    "indentation at a new level",
    "a.js",
    "function a() {\n    b();\n}\n",
    "        b();",
    "    c();\n        b();",
    undefined,
  ],
  ["part of an indented line", "a.py", "def f():\n    return 1\n", "return 1", "x = 1\nreturn x", undefined],
  [
    "part of an indented line",
    "a.py",
    "def f():\n    return 1\n",
    "return 1",
    "x = 1\n    return x",
    "def f():\n    x = 1\n    return x\n",
  ],
  [
    "part of an indented line",
    "a.py",
    "def f():\n    return 1\n",
    "return 1",
    "return 1\n\n\ndef g():\n    return 2",
    "def f():\n    return 1\n\n\ndef g():\n    return 2\n",
  ],
  [
    "part of an indented line",
    "a.js",
    "function f() {\n  a();\n}\n",
    "a();",
    "a();\n}\n\nfunction g() {\n  b();",
    "function f() {\n  a();\n}\n\nfunction g() {\n  b();\n}\n",
  ],
  ["part of an indented line", "a.yaml", "a:\n  b: 1\n  c: 2\n", "b: 1", "b: 2\nd: 3", undefined],
  ["a last line break", "a.txt", "one\ntwo\nthree\n", "two\n", "2", "one\n2\nthree\n"],
  ["a last line break", "a.txt", "one\ntwo\nthree\n", "two\n", "", "one\nthree\n"],
  ["a last line break", "a.txt", "one\ntwo\n", "two\n", "2", "one\n2"],
  ["a last line break", "a.txt", "one\r\ntwo\r\nthree\r\n", "two\n", "2", "one\r\n2\r\nthree\r\n"],
  ["a last line break", "a.txt", "one\ntwo\nthree\n", "one\ntwo", "one two", "one two\nthree\n"],
  [
    "escapes that belong there",
    "a.js",
    'const a = "x";\n',
    'const a = "x";',
    'const a = "x\\n";',
    'const a = "x\\n";\n',
  ],
  [
    "escapes that belong there",
    "a.js",
    'const a = "x";\n',
    'const a = "x";',
    'const a = "say \\"x\\"";',
    'const a = "say \\"x\\"";\n',
  ],
  ["escapes that belong there", "a.js", "const a = /x/;\n", "/x/", "/x\\n/", "const a = /x\\n/;\n"],
  [
    "escapes that belong there",
    "a.sh",
    "printf 'a'\n",
    "printf 'a'",
    "printf 'a\\n  b'",
    "printf 'a\\n  b'\n",
  ],
  ["escapes once too often", "a.js", "f();\n", "f();", "f();\\n    g();", undefined],
  [
    "escapes once too often",
    "a.py",
    'print("a")\nprint("b")\n',
    'print(\\"a\\")\\nprint(\\"b\\")',
    'print(\\"c\\")\\nprint(\\"b\\")',
    'print("c")\nprint("b")\n',
  ],
  ["escapes once too often", "a.py", 'print("a")\n', 'print(\\"a\\")', 'print(\\"a\\n\\")', undefined],
  ["entities that belong there", "a.html", "<p>a</p>\n", "<p>a</p>", "<p>a &lt; b</p>", "<p>a &lt; b</p>\n"],
  [
    "entities that belong there",
    "a.html",
    "<p>a &amp; b</p>\n",
    "a &amp; b",
    "a &amp; c",
    "<p>a &amp; c</p>\n",
  ],
  [
    "entities that belong there",
    "a.js",
    "const a = 1;\n",
    "const a = 1;",
    'const a = "&lt;b&gt;";',
    'const a = "&lt;b&gt;";\n',
  ],
  [
    "entities that belong there",
    "a.tsx",
    "<p>{a}</p>\n",
    "<p>{a}</p>",
    "<p>{a}&nbsp;&gt;</p>",
    "<p>{a}&nbsp;&gt;</p>\n",
  ],
  [
    "numbers that belong there",
    "a.txt",
    "1: one\n2: two\n",
    "1: one\n2: two",
    "1: uno\n2: two",
    "1: uno\n2: two\n",
  ],
  ["numbers that belong there", "a.csv", "1|a\n2|b\n", "2|b", "2|c", "1|a\n2|c\n"],
  [
    "line numbers in some lines of new_text",
    "a.js",
    "a();\nb();\n",
    "1\ta();\n2\tb();",
    "1\ta();\nc();\n2\tb();",
    undefined,
  ],
  [
    "fences that belong there",
    "a.md",
    "```js\na();\n```\n",
    "```js\na();\n```",
    "```js\nb();\n```",
    "```js\nb();\n```\n",
  ],
  ["fences that belong there", "a.md", "Text.\n", "Text.", "```js\nb();\n```", "```js\nb();\n```\n"],
  [
    "fences that belong there",
    "a.js",
    "/**\n * ```js\n * a();\n * ```\n */\n",
    " * a();",
    " * b();",
    "/**\n * ```js\n * b();\n * ```\n */\n",
  ],
];

/** All cases: `{ class, name, path, file, oldText, newText, expected }`. */
export function editCases() {
  const single = SINGLE.map(([kind, path, file, oldText, newText, expected]) => ({
    class: kind,
    name: `${path} ${JSON.stringify(newText)}`,
    path,
    file,
    oldText,
    newText,
    expected,
  }));
  return [...SNIPPETS.flatMap((snippet) => [...spoiled(snippet)]), ...single];
}
