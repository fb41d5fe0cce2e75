import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { devNull } from "node:os";
import { join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { quote } from "@agent/core/toolkit";
import { escapeToLine, safeVariables } from "@agent/internal";
import { ensurePrivateDirectory, ownProgram } from "@agent/terminal/host";
import { CliError } from "../../process/errors.js";
import { EXIT } from "../../process/exitCodes.js";

const LIMIT_MS = 5 * 60_000;
const MAX_ARCHIVE_BYTES = 256 * 1024 * 1024;
/** What git may list: enough for 100,000 files. A few objects can describe billions. */
const MAX_LISTING = 16 * 1024 * 1024;
const MAX_MESSAGE = 2000;
const TOO_LARGE = "The repository is larger than 256 MB, so it is not a pack.";

const ADDRESS = /^(?:git\+(?:https|ssh|file)|https|ssh):\/\/\S+$/;
const SHORT_ADDRESS = /^github:([\w.-]+\/[\w.-]+)$/;
const SSH_ADDRESS = /^[\w.-]+@[\w.-]+:[\w./~-]+$/;
const REFERENCE = /^[\w][\w./+-]*$/;

/** Settings that no file can override: no hook or filter runs, and no other protocol or repository is used. */
const PINNED = Object.entries({
  "core.hooksPath": devNull,
  "core.fsmonitor": "false",
  "submodule.recurse": "false",
  "fetch.recurseSubmodules": "false",
  "gc.auto": "0",
  "maintenance.auto": "false",
  // Many users have this filter (Git LFS) for all repositories. It would download from an address in the repository.
  "filter.lfs.smudge": "",
  "filter.lfs.process": "",
  "filter.lfs.required": "false",
}).flatMap(([key, value]) => ["-c", `${key}=${value}`]);

const PASSED_VARIABLES = ["XDG_CONFIG_HOME", "SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO"];
const PROXY_VARIABLE = /^(?:https?_proxy|no_proxy|all_proxy)$/i;

/** A git source: `git+https://example.com/me/pack.git#v1&path:/packages/one`. */
export interface GitSource {
  readonly url: string;
  /** A branch, a tag or a full commit id. Default: the repository's default branch. */
  readonly reference: string;
  /** The folder of the pack in the repository; empty for all of it. */
  readonly path: string;
}

/** Parses the address of a git repository; `undefined` for any other text. */
export function parseGitSource(specifier: string): GitSource | undefined {
  const [address = "", fragment = ""] = specifier.split(/#(.*)/s);
  const [, name] = SHORT_ADDRESS.exec(address) ?? [];
  const isRepository = address.startsWith("git+") || address.startsWith("ssh:") || address.endsWith(".git");
  const isAddress = (ADDRESS.test(address) && isRepository) || SSH_ADDRESS.test(address);
  if (name === undefined && !isAddress) return undefined;
  const parts = fragment.split("&").filter((part) => part !== "");
  const path = parts.find((part) => part.startsWith("path:"))?.slice("path:".length) ?? "";
  const reference = parts.find((part) => !part.startsWith("path:")) ?? "HEAD";
  const names = path.split("/").filter((part) => part !== "");
  if (
    !REFERENCE.test(reference) ||
    reference.includes("..") ||
    names.some((part) => /^\.\.?$|:/.test(part))
  ) {
    throw new CliError(
      `${quote(specifier)}: after # comes a branch, a tag or a commit, and then &path:/folder if the pack is in a folder.`,
    );
  }
  const url = name === undefined ? address.replace(/^git\+/, "") : `https://github.com/${name}.git`;
  return { url, reference, path: names.join("/") };
}

/**
 * Downloads one commit of a repository without its history and writes its files to an archive that npm can install.
 * Nothing is checked out: neither filters nor hooks run. Throws a `CliError` if git is missing or fails.
 */
export async function archiveGit(
  { url, reference, path }: GitSource,
  directory: string,
): Promise<{ readonly file: string; readonly commit: string; readonly folder: string }> {
  ensurePrivateDirectory(directory);
  const file = join(directory, "pack.tgz");
  await runGit(["init", "--quiet", "--bare", "--template=", "."], directory);
  await runGit(["fetch", "--quiet", "--depth=1", "--no-tags", "--end-of-options", url, reference], directory);
  const commit = (await runGit(["rev-parse", "--verify", "FETCH_HEAD^{commit}"], directory)).trim();
  const tree = path === "" ? commit : `${commit}:${path}`;
  const files = await runGit(["ls-tree", "-r", "-l", "--full-tree", tree], directory);
  const sizes = [...files.matchAll(/^\d+ blob \w+ +(\d+)\t/gm)].map(([, size]) => Number(size));
  if (sizes.reduce((sum, size) => sum + size, 0) > MAX_ARCHIVE_BYTES) throw new CliError(TOO_LARGE);
  await runGit(["archive", "--format=tgz", "--prefix=package/", tree], directory, file);
  // Also extracted as files, for content that is not a package. Symlinks become files that contain their target.
  const folder = join(directory, "files");
  ensurePrivateDirectory(folder);
  const asFiles = [
    "-c",
    "core.bare=false",
    "-c",
    "core.symlinks=false",
    `--work-tree=${folder}`,
    "--git-dir=.",
  ];
  await runGit([...asFiles, "read-tree", tree], directory);
  await runGit([...asFiles, "checkout-index", "--all", "--quiet"], directory);
  return { file, commit, folder };
}

/** The newest commit of a branch or tag. */
export async function latestCommit({ url, reference }: GitSource, directory: string): Promise<string> {
  if (/^[0-9a-f]{40}$/.test(reference)) return reference;
  ensurePrivateDirectory(directory);
  const found = await runGit(["ls-remote", "--end-of-options", url, reference], directory);
  return found.split(/\s/)[0] || "unknown";
}

/** Runs git with the user's own configuration in one of our directories. Its output goes to a file, or is returned. */
async function runGit(args: readonly string[], cwd: string, file?: string): Promise<string> {
  const program = ownProgram("git");
  if (program === undefined) throw new CliError("git is not installed, or not on the PATH.");
  const child = spawn(program, ["--no-pager", ...PINNED, ...args], {
    cwd,
    env: gitEnvironment(cwd),
    stdio: ["ignore", "pipe", "pipe"],
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
  });
  let output = "";
  let message = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    message = (message + chunk).slice(-MAX_MESSAGE);
  });
  const ended = new Promise<string>((resolve, reject) => {
    child.on("error", (error) => reject(new CliError(`git cannot be started: ${error.message}`)));
    child.on("close", (code) => {
      if (output.length > MAX_LISTING) return reject(new CliError(TOO_LARGE));
      if (code === 0) return resolve(output);
      reject(
        new CliError(
          `git ${args.find((word) => /^[a-z]/.test(word) && !word.includes("="))} failed: ${escapeToLine(message.trim()) || "it was killed"}`,
          EXIT.tool,
        ),
      );
    });
  });
  if (file === undefined) {
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      if (output.length > MAX_LISTING) child.kill("SIGKILL");
    });
    return await ended;
  }
  const written = pipeline(child.stdout, limit(), createWriteStream(file, { flags: "wx", mode: 0o600 }));
  try {
    await Promise.all([written, ended]);
  } finally {
    child.kill("SIGKILL");
  }
  return "";
}

function limit(): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      const isTooLarge = bytes > MAX_ARCHIVE_BYTES;
      done(isTooLarge ? new CliError(TOO_LARGE) : null, chunk);
    },
  });
}

function gitEnvironment(cwd: string): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...safeVariables(process.env) };
  for (const [name, value] of Object.entries(process.env)) {
    if (PROXY_VARIABLE.test(name) || PASSED_VARIABLES.includes(name)) env[name] = value;
  }
  // git must not prompt on the terminal: its question would interleave with ours.
  return {
    ...env,
    GIT_TERMINAL_PROMPT: "0",
    GIT_ALLOW_PROTOCOL: "https:ssh:file",
    GIT_CEILING_DIRECTORIES: join(cwd, ".."),
    GIT_CONFIG_NOSYSTEM: process.env.GIT_CONFIG_NOSYSTEM,
  };
}
