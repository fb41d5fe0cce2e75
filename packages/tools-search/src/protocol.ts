/** Requests of the host to a worker, and the replies. Plain data only: it crosses threads. */

export type OutputMode = "lines" | "files" | "count";

export interface TextQuery {
  readonly text: string;
  readonly regex: boolean;
  readonly ignoreCase: boolean;
  readonly mode: OutputMode;
  readonly context: number;
  readonly maxLineLength: number;
  /** The maximum size of the text in total; further matches are only counted. */
  readonly maxCharacters: number;
}

/** Where to search. */
export interface Scope {
  readonly cwd: string;
  /** Confines the search; absolute and canonical. */
  readonly root: string | undefined;
  /** Canonical files and directories that are not searched, except for those in `granted`. */
  readonly secret: readonly string[];
  /** Canonical paths inside secret directories that the user allowed this search to read. */
  readonly granted: readonly string[];
  readonly includeIgnored: boolean;
}

/** Finds the files below the paths, a batch at a time. */
export interface WalkTask {
  readonly kind: "walk";
  readonly scope: Scope;
  readonly paths: readonly string[];
  readonly glob: string | undefined;
}

/** Searches the files of a batch. */
export interface ScanTask {
  readonly kind: "scan";
  readonly query: TextQuery;
  readonly scope: Scope;
  readonly batch: FileBatch;
  /** How many matching lines (or files) are still needed as text; the rest is only counted. */
  readonly budget: number;
  /** Whether a large file may be returned to be searched in ranges. */
  readonly splitLarge: boolean;
}

/** Searches the lines that begin in [from, to) of one large file. */
export interface RangeTask {
  readonly kind: "range";
  readonly query: TextQuery;
  readonly scope: Scope;
  readonly path: string;
  readonly from: number;
  readonly to: number;
  readonly identity: string;
  /** As in a scan; if 0, the lines of the range are not counted either. */
  readonly budget: number;
  readonly named: boolean;
}

/** Which files to find by name. */
export interface GlobQuery {
  readonly scope: Scope;
  readonly path: string;
  readonly pattern: string;
  readonly order: "path" | "newest";
  readonly limit: number;
  /** The maximum size of the text in total; further paths are only counted. */
  readonly maxCharacters: number;
}

/** Finds the files that match a glob, or those in a part of the tree. */
export interface GlobTask {
  readonly kind: "glob";
  readonly query: GlobQuery;
  /** Shared by all parts of one search, and unique to it. */
  readonly search: number;
  /** The directories to search, in path order, each with a trailing slash: "" for everything. */
  readonly directories: readonly string[];
  /** After this many entries no more directories are read; the remaining ones are for other tasks. */
  readonly maxEntries: number;
  /** How many paths are still needed; the rest is only counted. */
  readonly budget: number;
}

export type Task = WalkTask | ScanTask | RangeTask | GlobTask;

/** Files to search, as two strings: they cross to another thread far faster than arrays. */
export interface FileBatch {
  /** Put before each path to open it. */
  readonly base: string;
  /** Put before each path to show it. */
  readonly shown: string;
  /** Paths, separated by NUL. */
  readonly paths: string;
  /** The displayed form of each path, separated by NUL, if it differs from `shown` + path. */
  readonly labels?: string;
  /** Whether the caller named these files, so that they are searched whatever they are. */
  readonly named: boolean;
}

/** Counts of skipped files and directories, by reason. */
export interface Tally {
  ignoredFiles: number;
  ignoredDirectories: number;
  binary: number;
  tooLarge: number;
  unreadable: number;
  vanished: number;
  links: number;
  special: number;
  /** Paths that were replaced during the search and then resolved outside the root. */
  outside: number;
  /** Directories with keys or credentials. */
  secret: number;
  /** Files that expose the memory or environment of a process. */
  process: number;
  /** Files with a line so long that it was searched in pieces. */
  pieces: number;
  /** The first few unreadable paths, by name, with the reason. */
  readonly examples: string[];
}

export interface Row {
  readonly line: number;
  readonly text: string;
  /** `false` for a line of context. */
  readonly match: boolean;
}

/**
 * The minimum size of a result besides the line itself: `path:1:` and the line ending, or only the path. Never
 * overestimated, so that everything that fits is available.
 */
export function leastCharacters(label: string, mode: OutputMode): number {
  return label.length + (mode === "lines" ? 4 : 1);
}

/** The matches of one file. */
export interface FileHits {
  /** Its index in the batch. */
  readonly index: number;
  readonly label: string;
  readonly matches: number;
  readonly rows: readonly Row[];
}

export interface LargeFile {
  readonly index: number;
  readonly path: string;
  readonly label: string;
  readonly size: number;
  /** Identifies the version of the file. */
  readonly identity: string;
}

export type Reply =
  | { readonly kind: "batch"; readonly batch: FileBatch }
  | { readonly kind: "walked"; readonly tally: Tally; readonly problems: readonly string[] }
  | {
      readonly kind: "scanned";
      readonly tally: Tally;
      readonly searched: number;
      readonly matches: number;
      readonly matchedFiles: number;
      readonly hits: readonly FileHits[];
      readonly large: readonly LargeFile[];
    }
  | {
      readonly kind: "ranged";
      readonly matches: number;
      readonly lines: number;
      readonly rows: readonly Row[];
      readonly inPieces: boolean;
      readonly failed: Failure | undefined;
    }
  | {
      readonly kind: "globbed";
      readonly tally: Tally;
      /** The entries of each directory, in path order, separated by NUL. A trailing slash marks an unread directory. */
      readonly lists: readonly string[];
      readonly total: number;
      /** A suggestion if nothing is found. */
      readonly hint: string | undefined;
    };

/** Why a file was not searched. */
export type FileStatus =
  | "binary"
  | "tooLarge"
  | "unreadable"
  | "vanished"
  | "special"
  | "outside"
  | "secret"
  | "process";

export interface Failure {
  readonly status: FileStatus;
  readonly reason: string;
}

export function emptyTally(): Tally {
  return {
    ignoredFiles: 0,
    ignoredDirectories: 0,
    binary: 0,
    tooLarge: 0,
    unreadable: 0,
    vanished: 0,
    links: 0,
    special: 0,
    outside: 0,
    secret: 0,
    process: 0,
    pieces: 0,
    examples: [],
  };
}

const MAX_EXAMPLES = 3;

/** Adds `from` to `to`. */
export function addTally(to: Tally, from: Tally): void {
  to.ignoredFiles += from.ignoredFiles;
  to.ignoredDirectories += from.ignoredDirectories;
  to.binary += from.binary;
  to.tooLarge += from.tooLarge;
  to.unreadable += from.unreadable;
  to.vanished += from.vanished;
  to.links += from.links;
  to.special += from.special;
  to.outside += from.outside;
  to.secret += from.secret;
  to.process += from.process;
  to.pieces += from.pieces;
  addExamples(to, from.examples);
}

/** Counts a path that could not be read, and keeps the first few to name them. */
export function addUnreadable(tally: Tally, path: string, reason: string): void {
  tally.unreadable++;
  addExamples(tally, [`${path} (${reason})`]);
}

/** Keeps the first few by name, independent of the order in which parts of a search finish. */
function addExamples({ examples }: Tally, more: readonly string[]): void {
  examples.push(...more);
  examples.sort().splice(MAX_EXAMPLES);
}

/** Counts a file that was not searched. One that the caller named is always listed by name. */
export function addNotSearched(
  tally: Tally,
  path: string,
  { status, reason }: Failure,
  named: boolean,
): void {
  if (status === "unreadable" || named) addUnreadable(tally, path, reason);
  else tally[status]++;
}
