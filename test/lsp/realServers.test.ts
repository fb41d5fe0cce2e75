import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { Agent } from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import * as fs from "@agent/tools-fs";
import * as lsp from "@agent/tools-lsp";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { externalDirectory, isExternalInstalled } from "../external.mjs";

const MANIFEST = new URL("package.json", import.meta.url);
const modules = join(externalDirectory(MANIFEST), "node_modules");
const isInstalled = isExternalInstalled(MANIFEST);
const onPath = (name: string): boolean =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));

interface Language {
  readonly title: string;
  readonly available: boolean;
  readonly missing: string;
  /** Programs that the project has in node_modules, with where they are. */
  readonly programs?: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
  readonly file: string;
  /** An edit that breaks the program, with a part of the error. */
  readonly broken: readonly [oldText: string, newText: string, error: RegExp];
  /** A symbol that two files use. */
  readonly symbol: string;
  readonly line: number;
  readonly uses: readonly RegExp[];
}

const TYPESCRIPT = {
  files: {
    "tsconfig.json":
      '{"compilerOptions":{"strict":true,"noEmit":true,"module":"nodenext"},"include":["src"]}',
    "package.json": '{"type":"module"}',
    "src/area.ts":
      "export function area(width: number, height: number): number {\n  return width * height;\n}\n",
    "src/main.ts": 'import { area } from "./area.js";\n\nexport const size: number = area(2, 3);\n',
  },
  file: "src/main.ts",
  broken: [
    "area(2, 3)",
    'area(2, "3")',
    /src\/main\.ts:3: error: Argument of type 'string' is not assignable/,
  ],
  symbol: "area",
  line: 3,
  uses: [/src\/area\.ts:1: export function area/, /src\/main\.ts:1: import/, /src\/main\.ts:3: /],
} as const;

const INSTALL = "run `node test/lsp/install.mjs` first";

const LANGUAGES: readonly Language[] = [
  {
    ...TYPESCRIPT,
    title: "TypeScript 7",
    available: isInstalled,
    missing: INSTALL,
    programs: { "typescript/": "typescript", ".bin/tsc": "typescript/bin/tsc" },
  },
  {
    ...TYPESCRIPT,
    title: "typescript-language-server",
    available: isInstalled,
    missing: INSTALL,
    programs: {
      "typescript/": "typescript-5",
      ".bin/tsc": "typescript-5/bin/tsc",
      ".bin/typescript-language-server": "typescript-language-server/lib/cli.mjs",
    },
  },
  {
    title: "pyright",
    available: isInstalled,
    missing: INSTALL,
    programs: { ".bin/pyright-langserver": "pyright/langserver.index.js" },
    files: {
      "pyproject.toml": "",
      "area.py": "def area(width: int, height: int) -> int:\n    return width * height\n",
      "main.py": "from area import area\n\nsize: int = area(2, 3)\n",
    },
    file: "main.py",
    broken: ["area(2, 3)", 'area(2, "3")', /main\.py:3: error: Argument of type/],
    symbol: "area",
    line: 3,
    uses: [/area\.py:1: def area/, /main\.py:3: /],
  },
  {
    title: "clangd",
    available: onPath("clangd"),
    missing: "install clangd first",
    files: {
      // Where its index of other files comes from.
      "compile_commands.json": JSON.stringify(
        ["area.c", "main.c"].map((file) => ({ directory: "ROOT", file, command: `cc -c ${file}` })),
      ),
      "area.c":
        "int area(int width, int height);\nint area(int width, int height) { return width * height; }\n",
      "main.c": "int area(int width, int height);\n\nint size(void) { return area(2, 3); }\n",
    },
    file: "main.c",
    broken: ["area(2, 3)", "area(2)", /main\.c:3: error: Too few arguments to function call/],
    symbol: "area",
    line: 3,
    uses: [/area\.c:2: int area/, /main\.c:3: /],
  },
  {
    title: "gopls",
    available: onPath("gopls") && onPath("go"),
    missing: "install gopls and go first",
    files: {
      "go.mod": "module example.com/area\n\ngo 1.19\n",
      "area.go": "package main\n\nfunc area(width int, height int) int {\n\treturn width * height\n}\n",
      "main.go": "package main\n\nfunc main() { println(area(2, 3)) }\n",
    },
    file: "main.go",
    broken: ["area(2, 3)", 'area(2, "3")', /main\.go:3: error: cannot use "3"/],
    symbol: "area",
    line: 3,
    uses: [/area\.go:3: func area/, /main\.go:3: /],
  },
];

function createProject({ files, programs = {} }: Language): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "agent real@lsp+(ö)-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text.replaceAll("ROOT", root));
  }
  for (const [name, target] of Object.entries(programs)) {
    const link = join(root, "node_modules", name.replace(/\/$/, ""));
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(modules, target), link);
  }
  return root;
}

/** Makes one call of a tool and resolves to the text of its result. */
function createCaller(root: string): (name: string, args: object) => Promise<string> {
  let next: { name: string; args: object } | undefined;
  const provider = scriptedProvider(
    Array.from({ length: 1000 }, () => () => {
      const call = next;
      next = undefined;
      return call ? { calls: [call] } : "Done.";
    }),
  );
  const agent = new Agent(provider, {
    packs: [
      [fs, { root }],
      // Generous: what is tested is what comes, not when.
      [lsp, { root, waitMs: 25_000, startMs: 120_000, requestMs: 120_000 }],
    ],
  });
  onTestFinished(() => agent.dispose());
  return async (name, args) => {
    next = { name, args };
    for await (const event of agent.streamChat("Go.")) if (event.type === "tool_end") return event.text;
    throw new Error("no call ended");
  };
}

describe.each(LANGUAGES)("$title", (language) => {
  const { available, missing, file, broken, symbol, line, uses } = language;
  const why = available ? "" : ` (skipped: ${missing})`;

  test.skipIf(!available)(`reports the errors of an edit, finds uses, and renames${why}`, async () => {
    const root = createProject(language);
    const call = createCaller(root);
    const [oldText, newText, error] = broken;
    const result = await call("edit_file", { path: file, old_text: oldText, new_text: newText });
    expect(result).toContain("New errors after this change:");
    expect(result).toMatch(error);
    const mended = await call("edit_file", { path: file, old_text: newText, new_text: oldText });
    expect(mended).not.toContain("New errors");
    expect(await call("lsp_diagnostics", { path: file })).not.toContain("error");

    // A server may still build its index of the other files.
    await vi.waitFor(
      async () => {
        const references = await call("lsp_references", { path: file, line, symbol });
        for (const use of uses) expect(references).toMatch(use);
        const definition = await call("lsp_definition", { path: file, line, symbol });
        expect(definition).toMatch(uses[0] ?? /never/);
      },
      { timeout: 120_000, interval: 200 },
    );
    expect(await call("lsp_symbols", { path: file })).toMatch(/main|size/);
    expect(await call("lsp_symbols", { query: symbol })).toContain(symbol);

    const rename = { path: file, line, symbol, new_name: "surface" };
    let renamed = "";
    do renamed = await call("lsp_rename", rename);
    while (renamed.includes("still loading"));
    expect(renamed).toMatch(/^Renamed area to surface: \d places in 2 files\./);
    expect(renamed).not.toContain("New errors");
    expect(readFileSync(join(root, file), "utf8")).toContain("surface(2, 3)");
  });
});
