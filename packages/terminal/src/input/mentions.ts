import { readdir, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { extname, join, resolve } from "node:path";
import type { ContentPart } from "@agent/core";
import {
  canonicalPath,
  countOf,
  delimited,
  escapeToLine,
  isInside,
  readRegularFile,
  readRegularFileInside,
  truncateUtf8,
} from "@agent/internal";

const LARGEST_IMAGE = 20 * 1024 * 1024;
const LARGEST_READ = 4 * 1024 * 1024;
const MOST_BYTES = 64 * 1024;
const MOST_LINES = 2000;
const MOST_ENTRIES = 500;
// `@src/a.ts`, `@src/a.ts:10-40`, `@"a b.txt":3`; not the @ of an address.
const MENTION = /(?<![\p{L}\p{N}._%+-])@(?:"([^"\n]+)"(?::\d+(?:-\d+)?)?|([^\s"'`,;()<>]+))/gu;
const ENDS_SENTENCE = /[.,;:!?)]*(?:\s|$)/y;
const RANGE = /:(\d+)(?:-(\d+))?$/;
const PUNCTUATION = new Set(".:!?");

const IMAGES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};

/** A file, or some lines of it. */
interface FileMention {
  readonly path: string;
  readonly first?: number;
  readonly last?: number;
}

/** A file, or something a pack offers, that a message names with `@`. */
export interface Mention extends FileMention {
  /** The text after the `@`, without quotes. */
  readonly whole: string;
}

/** Which files a message can attach. */
export interface MentionPlace {
  readonly cwd: string;
  /** The directory of the project: a symlink in it that leads outside is refused. Default: `cwd`. */
  readonly root?: (() => string) | undefined;
  /** Directories with secrets: nothing in them is attached. Called for each file outside of the project. */
  readonly secret?: (() => readonly string[]) | undefined;
  /** The directory of pasted images, which can be attached wherever it is. */
  readonly imageDirectory?: string | undefined;
}

/**
 * Finds mentions. Reads each character a limited number of times: a pasted text may be long, and designed to be slow to
 * parse.
 */
export function findMentions(text: string): Mention[] {
  const found: Mention[] = [];
  const mention = new RegExp(MENTION);
  for (let match = mention.exec(text); match; match = mention.exec(text)) {
    const [all, quoted] = match;
    const end = match.index + all.length;
    ENDS_SENTENCE.lastIndex = end;
    if (ENDS_SENTENCE.test(text)) found.push(toMention(all, quoted));
    else if (quoted !== undefined) mention.lastIndex = match.index + 1;
    // A name that begins inside this one ends at the same position; only a quoted name may begin with its last
    // character.
    else if (all.endsWith("@")) mention.lastIndex = Math.max(match.index + 1, end - 1);
  }
  return found;
}

function toMention(all: string, quoted: string | undefined): Mention {
  const whole = quoted === undefined ? withoutPunctuation(all.slice(1)) : all.slice(1);
  const range = RANGE.exec(whole);
  const [, first, last] = range ?? [];
  return {
    whole: quoted ?? whole,
    path: quoted ?? whole.slice(0, range?.index),
    ...(first !== undefined && { first: Number(first), last: Number(last ?? first) }),
  };
}

/** The name without the punctuation that ends a sentence; at least one character stays. */
function withoutPunctuation(name: string): string {
  let end = name.length;
  while (end > 1 && PUNCTUATION.has(name[end - 1] ?? "")) end--;
  return name.slice(0, end);
}

/** The content that a mention adds to a message, and a short description for the user. */
export interface Attachment {
  readonly part: ContentPart;
  readonly note: string;
}

/**
 * The content of a message's mentions. A name that is not a file adds nothing: it may be a user or a package. Throws an
 * `Error` for a file that exists but cannot be attached, because the user expects it to be sent.
 */
export async function attach(mention: FileMention, place: MentionPlace): Promise<Attachment | undefined> {
  const path = resolve(
    place.cwd,
    mention.path.startsWith("~/") ? join(homedir(), mention.path.slice(2)) : mention.path,
  );
  const stats = await stat(path).catch(() => undefined);
  if (!stats) return undefined;
  const root = canonicalPath(place.root?.() ?? place.cwd);
  const real = await realpath(path);
  assertLeadsNowhereElse(mention.path, path, real, root);
  assertNoSecret(mention.path, real, root, place);
  if (stats.isDirectory()) return await attachDirectory(mention.path, path);
  if (!stats.isFile()) throw new Error(`@${mention.path} is not a regular file.`);
  const mediaType = IMAGES[extname(path).toLowerCase()];
  const read = (most: number): Buffer => readStart(mention.path, path, root, most);
  return mediaType === undefined
    ? attachText(mention, stats.size, read)
    : attachImage(mention.path, mediaType, stats.size, read);
}

/**
 * Throws for a path in the project that is a symlink to a file outside: a stranger's repository could make README.md a
 * symlink to a private key, and a user who mentions README.md does not mean to send that.
 */
function assertLeadsNowhereElse(name: string, path: string, real: string, root: string): void {
  if (!isInside(root, path) || isInside(root, real)) return;
  throw new Error(`@${name} is a link out of the project, to ${real}. Mention that path if you mean it.`);
}

/**
 * Throws for a path in a directory with secrets: the message may be pasted from a stranger's text. Images that the user
 * pasted are in one, and are meant to be sent.
 */
function assertNoSecret(
  name: string,
  real: string,
  root: string,
  { secret, imageDirectory }: MentionPlace,
): void {
  if (isInside(root, real)) return;
  if (imageDirectory !== undefined && isInside(canonicalPath(imageDirectory), real)) return;
  if (!secret?.().some((place) => isInside(place, real))) return;
  throw new Error(
    `@${name} is in a directory with secrets, so it is not attached. Write what you need into the message.`,
  );
}

export function isImagePath(path: string): boolean {
  return Object.hasOwn(IMAGES, extname(path).toLowerCase());
}

type ReadStart = (most: number) => Buffer;

function attachImage(name: string, mediaType: string, size: number, read: ReadStart): Attachment {
  if (size > LARGEST_IMAGE) throw new Error(`@${name} is larger than ${LARGEST_IMAGE / 1024 / 1024} MB.`);
  const data = read(LARGEST_IMAGE).toString("base64");
  return { part: { type: "image", mediaType, data, name }, note: `${name} (image)` };
}

async function attachDirectory(name: string, path: string): Promise<Attachment> {
  const entries = (await readdir(path, { withFileTypes: true }))
    .map((entry) => escapeToLine(entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort();
  const more = entries.length > MOST_ENTRIES ? `\n[… ${entries.length - MOST_ENTRIES} more]` : "";
  const listed = `${entries.slice(0, MOST_ENTRIES).join("\n")}${more}`;
  const text = delimited("directory", listed, { path: name });
  return { part: { type: "text", text }, note: `${name} (${entries.length} entries)` };
}

function attachText({ path: name, first, last }: FileMention, size: number, read: ReadStart): Attachment {
  const bytes = read(LARGEST_READ);
  if (bytes.subarray(0, 8192).includes(0)) {
    throw new Error(`@${name} is a binary file (${size} bytes): only text and images can be attached.`);
  }
  // A newline ends the last line; it does not start another.
  const lines = bytes.toString("utf8").replace(/\n$/, "").split("\n");
  const start = first ?? 1;
  if (first !== undefined && (start < 1 || start > lines.length)) {
    throw new Error(`@${name}:${first} is not a line of the file, which has ${lines.length}.`);
  }
  const end = Math.min(last ?? lines.length, lines.length, start + MOST_LINES - 1);
  const wanted = lines.slice(start - 1, end).join("\n");
  const content = truncateUtf8(wanted, MOST_BYTES);
  const shownLines = content.split("\n").length;
  const isCut =
    content.length < wanted.length ||
    end < Math.min(last ?? lines.length, lines.length) ||
    size > LARGEST_READ;
  const notice = isCut
    ? `\n[cut: lines ${start}-${start + shownLines - 1} of ${lines.length}${size > LARGEST_READ ? " or more" : ""}. Read on with offset ${start + shownLines}.]`
    : "";
  const range: Record<string, string> = first === undefined ? {} : { lines: `${start}-${end}` };
  return {
    part: { type: "text", text: delimited("file", `${content}${notice}`, { path: name, ...range }) },
    note:
      first === undefined ? `${name} (${countOf(lines.length, "line")})` : `${name} (lines ${start}-${end})`,
  };
}

/**
 * Reads the start of a file: reading an endless one, such as a growing log, would never finish. A file of the project
 * is checked again after it is opened, because it may have become a symlink meanwhile.
 */
function readStart(name: string, path: string, root: string, most: number): Buffer {
  const bytes = isInside(root, path) ? readRegularFileInside(root, path, most) : readRegularFile(path, most);
  if (bytes === undefined) throw new Error(`@${name} cannot be read as a file.`);
  return bytes;
}
