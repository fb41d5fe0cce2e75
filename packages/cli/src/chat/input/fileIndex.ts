import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ownProgram } from "../../process/ownProgram.js";
import { bestMatches, type Candidate, toCandidate } from "./fuzzy.js";

const MOST_FILES = 300_000;
const FRESH_MS = 5000;
// Directories to skip where no gitignore applies.
const SKIPPED = new Set([".git", "node_modules", ".hg", ".svn", "__pycache__", ".venv", "target", "dist"]);
const CONTROL = /\p{Cc}/u;

/**
 * The files and directories of a project, for completion. They are read in the background on first use, and again when
 * the list is older than a few seconds. A query searches the list as it is at that time.
 */
export class FileIndex {
  readonly #root: string;
  #candidates: readonly Candidate[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  /** The last query and what matched it: a longer one can only match some of those. */
  #narrowed: { readonly query: string; readonly matching: readonly Candidate[] } | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /** Resolves once the project has been read. Never rejects. */
  refresh(now = performance.now()): Promise<void> {
    if (this.#reading) return this.#reading;
    if (now - this.#readAt < FRESH_MS) return Promise.resolve();
    this.#reading = this.#read().then(() => {
      this.#reading = undefined;
      this.#readAt = performance.now();
    });
    return this.#reading;
  }

  /** The paths that fit a query best, the best first. */
  find(query: string, count: number): string[] {
    const known = this.#narrowed;
    const isLonger = known !== undefined && query.startsWith(known.query);
    const { best, matching } = bestMatches(isLonger ? known.matching : this.#candidates, query, count);
    this.#narrowed = { query, matching };
    return best;
  }

  async #read(): Promise<void> {
    const files = (await gitFiles(this.#root)) ?? (await walk(this.#root));
    // A line break in a name would be one in the message.
    const paths = files.filter((path) => path !== "" && !CONTROL.test(path));
    const directories = new Set<string>();
    for (const path of paths) {
      for (
        let parent = dirname(path);
        parent !== "." && !directories.has(`${parent}/`);
        parent = dirname(parent)
      ) {
        directories.add(`${parent}/`);
      }
    }
    this.#candidates = [...directories, ...paths].map(toCandidate);
    this.#narrowed = undefined;
  }
}

/** Files that git tracks or does not ignore; `undefined` outside of a work tree. */
async function gitFiles(root: string): Promise<string[] | undefined> {
  const program = ownProgram("git", root);
  if (program === undefined) return undefined;
  const { spawn } = await import("node:child_process");
  return await new Promise((resolve) => {
    const git = spawn(program, ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
      cwd: root,
      stdio: ["ignore", "pipe", "ignore"],
      // Do not run core.fsmonitor: a repository's config can name any program there.
      env: {
        ...process.env,
        GIT_OPTIONAL_LOCKS: "0",
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "core.fsmonitor",
        GIT_CONFIG_VALUE_0: "false",
      },
    });
    const chunks: Buffer[] = [];
    git.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    git.on("error", () => resolve(undefined));
    git.on("close", (code) => {
      const paths = Buffer.concat(chunks).toString("utf8").split("\0");
      resolve(code === 0 ? [...new Set(paths)].slice(0, MOST_FILES) : undefined);
    });
  });
}

async function walk(root: string): Promise<string[]> {
  const files: string[] = [];
  const waiting = [""];
  for (
    let folder = waiting.shift();
    folder !== undefined && files.length < MOST_FILES;
    folder = waiting.shift()
  ) {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (!entry.isDirectory()) files.push(path);
      else if (!SKIPPED.has(entry.name)) waiting.push(path);
    }
  }
  return files;
}
