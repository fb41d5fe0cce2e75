/** A way to start a server. */
export interface Candidate {
  readonly program: string;
  readonly args: readonly string[];
  /** The minimum major version of the program's npm package: older ones have no server. */
  readonly package?: { readonly name: string; readonly major: number };
}

/** A kind of language server: which files it is for, and how it is found. */
export interface Language {
  readonly name: string;
  /** The protocol's language id for each extension. */
  readonly extensions: Readonly<Record<string, string>>;
  /** Files that mark the root of a project. Without any, the pack's root is used. */
  readonly markers?: readonly string[];
  /** Whether the root is the outermost directory with a marker. Default: the nearest one. */
  readonly outermost?: boolean;
  /** The ways to start it, best first. */
  readonly candidates: readonly Candidate[];
  readonly initialization?: unknown;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** What to install if there is none. */
  readonly hint: string;
}

const TYPESCRIPT_SERVER = { program: "typescript-language-server", args: ["--stdio"] };
const TSC = {
  program: "tsc",
  args: ["--lsp", "--stdio"],
  package: { name: "typescript", major: 7 },
};

/**
 * The results of `cargo check` come long after the edit, and it locks the build directory meanwhile. Without it, type
 * errors are reported only as experimental diagnostics.
 */
const RUST_OPTIONS = { checkOnSave: false, diagnostics: { experimental: { enable: true } } };

/** The known servers. One is used only if the machine or the project has it. */
export const LANGUAGES: readonly Language[] = [
  {
    name: "typescript",
    extensions: {
      ".ts": "typescript",
      ".mts": "typescript",
      ".cts": "typescript",
      ".tsx": "typescriptreact",
      ".js": "javascript",
      ".mjs": "javascript",
      ".cjs": "javascript",
      ".jsx": "javascriptreact",
    },
    // One server finds the tsconfig.json of each file, also in a repository of many packages.
    candidates: [TSC, TYPESCRIPT_SERVER],
    // A rename changes the name everywhere, instead of `import { new as old }`.
    initialization: { preferences: { providePrefixAndSuffixTextForRename: false } },
    settings: {
      typescript: { preferences: { useAliasesForRenames: false } },
      javascript: { preferences: { useAliasesForRenames: false } },
    },
    hint: "npm install --save-dev typescript@7, or typescript-language-server with an older TypeScript",
  },
  {
    name: "python",
    extensions: { ".py": "python", ".pyi": "python" },
    markers: ["pyrightconfig.json", "pyproject.toml", "setup.py", "setup.cfg"],
    candidates: [{ program: "pyright-langserver", args: ["--stdio"] }],
    hint: "npm install --save-dev pyright, or pip install pyright",
  },
  {
    name: "go",
    extensions: { ".go": "go" },
    markers: ["go.work", "go.mod"],
    candidates: [{ program: "gopls", args: [] }],
    // Newer versions support pull diagnostics; older ones ignore it.
    initialization: { pullDiagnostics: true },
    hint: "go install golang.org/x/tools/gopls@latest",
  },
  {
    name: "rust",
    extensions: { ".rs": "rust" },
    markers: ["Cargo.toml"],
    outermost: true,
    candidates: [{ program: "rust-analyzer", args: [] }],
    initialization: RUST_OPTIONS,
    settings: { "rust-analyzer": RUST_OPTIONS },
    hint: "rustup component add rust-analyzer",
  },
  {
    name: "c",
    extensions: {
      ".c": "c",
      ".h": "c",
      ".cc": "cpp",
      ".cpp": "cpp",
      ".cxx": "cpp",
      ".hh": "cpp",
      ".hpp": "cpp",
      ".hxx": "cpp",
    },
    candidates: [{ program: "clangd", args: [] }],
    hint: "the package clangd of your system",
  },
];
