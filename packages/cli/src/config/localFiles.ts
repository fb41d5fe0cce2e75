import { createHash } from "node:crypto";
import { readFileSync, type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CliError } from "../errors.js";

// Anything that looks like a relative path, quoted or bare: imports, dynamic imports and packs alike.
const QUOTED = /(["'`])(\.{1,2}\/[^"'`\n]{1,500})\1/g;
const BARE = /\.{1,2}\/[^\s"'`,\])}]{1,500}/g;
const ENDINGS = ["", ".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"];
const INDEX = ["/index.ts", "/index.js", "/index.mjs", "/index.cjs", "/package.json"];
const COMPILED = /\.([mc]?)js$/;
const MAX_FILES = 500;
const MAX_BYTES = 16 * 1024 * 1024;

/** Files and the SHA-256 of their content. */
export type FileHashes = Readonly<Record<string, string>>;

/**
 * The file and every file of the project it mentions by a relative path, and so on: what runs when it is
 * loaded. It rather takes in too much than too little, since trust is bound to the result.
 */
export function hashLocalFiles(file: string, content?: string): FileHashes {
  const hashes: Record<string, string> = {};
  const queue = content === undefined ? existing(resolve(file)) : [resolve(file)];
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (Object.hasOwn(hashes, path)) continue;
    const bytes = content !== undefined && path === resolve(file) ? Buffer.from(content) : readWhole(path);
    hashes[path] = createHash("sha256").update(bytes).digest("hex");
    if (Object.keys(hashes).length > MAX_FILES) {
      throw new CliError(
        `${file}: it leads to more than ${MAX_FILES} files of the project, too many to vouch for.`,
      );
    }
    queue.push(...mentionedFiles(path, bytes.toString("utf8")));
  }
  return hashes;
}

function mentionedFiles(file: string, text: string): string[] {
  const mentions = new Set<string>();
  for (const match of text.matchAll(QUOTED)) mentions.add(match[2] ?? "");
  for (const match of text.matchAll(BARE)) mentions.add(match[0]);
  return [...mentions].flatMap((mention) => existing(resolve(dirname(file), mention)));
}

/** All files a loader might take for this path. */
function existing(path: string): string[] {
  const variants = [...ENDINGS, ...INDEX].map((ending) => path + ending);
  if (COMPILED.test(path)) variants.push(path.replace(COMPILED, ".$1ts"));
  return variants.filter((variant) => stat(variant)?.isFile());
}

/** A file too large to be looked at is not left out: what is not looked at could change unseen. */
function readWhole(path: string): Buffer {
  const size = stat(path)?.size ?? 0;
  if (size > MAX_BYTES)
    throw new CliError(
      `${path}: the config leads to this file, and with ${size} bytes it is too large to vouch for.`,
    );
  return readFileSync(path);
}

/** Also `undefined` where a part of the path is a file: "a.ts/index.ts". */
function stat(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
