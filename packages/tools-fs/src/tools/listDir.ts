import { lstatSync, readlinkSync, type Stats, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { defineTool, type ToolReport } from "@agent/core";
import {
  assertNotProcessSecret,
  assertOpenedIsNotProcessSecret,
  escapeToLine,
  pinDirectory,
} from "@agent/core/toolkit";
import { fsCause } from "../errors/fsError.js";
import { missingError } from "../errors/missing.js";
import { showPath } from "../paths/pathText.js";
import { kindOf } from "../read/regularFile.js";
import { checkWorkspace, Workspace } from "../workspace.js";
import { READS } from "./capabilities.js";
import { describeSteps } from "./describeSteps.js";

// More entries than a view shows.
const MAX_VIEW_ITEMS = 1000;
// Nearly every name needs no escaping, and this test is much cheaper than escaping.
const PLAIN_NAME = /^[ -~]*$/;

const PATHS = ["path"] as const;
const INPUT = {
  type: "object",
  properties: {
    path: { type: "string", description: "Directory to list (default: the working directory)" },
    details: {
      type: "boolean",
      description: "Also show kind, size in bytes and time of change (UTC), separated by tabs",
    },
    offset: { type: "integer", minimum: 1, description: "First entry to show, counted from 1" },
  },
  additionalProperties: false,
} as const;

/** Lists one directory: one entry per line, sorted by name, whatever the names contain. */
export function listDirTool(workspace = new Workspace()) {
  checkWorkspace(workspace);
  return defineTool({
    name: "list_dir",
    description:
      "List a directory, one level, one entry a line, sorted. Directories end in /, links show their target. Control characters in names are shown escaped.",
    input: INPUT,
    capabilities: READS,
    titleFrom: "path",
    pathArguments: PATHS,
    describe: ({ path = "." }) => ({
      ...describeSteps(workspace, () => [{ action: "read", ...workspace.locateBoth(path) }]),
      title: path,
    }),
    async execute({ path = ".", details = false, offset = 1 }, call) {
      let target = path;
      try {
        target = workspace.locate(path);
        assertNotProcessSecret(target, path);
        workspace.assertAllowed({ action: "read", path: target }, call);
        refuseOthers(path, target);
        const pinned = pinDirectory(target, workspace.pins ? target : undefined);
        try {
          if (pinned.fd !== undefined) assertOpenedIsNotProcessSecret(pinned.fd, { blocks: 0 }, path);
          const { text, view } = await list(
            pinned.path,
            { path, details, offset },
            workspace.limits.maxEntries,
          );
          if (call.wantsView) call.report(view(target));
          return text;
        } finally {
          pinned.close();
        }
      } catch (error) {
        throw await missingError(error, "list", path, target);
      }
    },
  });
}

interface Listing {
  readonly text: string;
  /** The same list for a display. The directory was opened under another name than `target`. */
  readonly view: (target: string) => ToolReport;
}

async function list(
  directory: string,
  asked: { path: string; details: boolean; offset: number },
  maxEntries: number,
): Promise<Listing> {
  const { path, details, offset } = asked;
  const entries = await readdir(directory, { withFileTypes: true });
  if (entries.length === 0) return { text: "[The directory is empty.]", view: () => listView([], [], 0, "") };
  if (offset > entries.length) {
    throw new Error(
      `"offset" is ${offset}, but ${showPath(path)} has ${entries.length === 1 ? "1 entry" : `${entries.length} entries`}.`,
    );
  }
  const kinds = new Map<string, "directory" | "link">();
  for (const entry of entries) {
    if (entry.isDirectory()) kinds.set(entry.name, "directory");
    else if (entry.isSymbolicLink()) kinds.set(entry.name, "link");
  }
  // Sort strings, not entries: it is several times faster.
  const names = entries.map(({ name }) => name).sort();
  const shown = names.slice(offset - 1, offset - 1 + maxEntries);
  // One test of all names joined is much faster than one test per name.
  const asItIs = PLAIN_NAME.test(shown.join(""));
  const lines = shown.map((name) => {
    const line = marked(
      directory,
      name,
      asItIs || PLAIN_NAME.test(name) ? name : escapeToLine(name),
      kinds.get(name),
    );
    return details ? detailed(directory, name, line) : line;
  });
  const rest = entries.length - (offset - 1) - shown.length;
  const items = lines.slice(0, MAX_VIEW_ITEMS);
  if (rest > 0) {
    const next = JSON.stringify({ path, ...(details && { details }), offset: offset + shown.length });
    lines.push(`[${rest} more of ${entries.length} entries. To read on, call list_dir with ${next}]`);
  }
  return {
    text: lines.join("\n"),
    view: (target) => listView(items, shown, entries.length - (offset - 1), target),
  };
}

/** `names` and `lines` are the same entries; `all` counts them and the omitted ones. */
function listView(
  lines: readonly string[],
  names: readonly string[],
  all: number,
  directory: string,
): ToolReport {
  const items = lines.map((text, index) => ({ text, path: join(directory, names[index] ?? "") }));
  const more = all - items.length;
  return {
    ok: true,
    summary: all === 1 ? "1 entry" : `${all} entries`,
    view: { type: "list", items, ...(more > 0 && { more }) },
  };
}

function refuseOthers(path: string, target: string): void {
  const info = statSync(target);
  if (info.isDirectory()) return;
  const hint = info.isFile() ? " Use read_file to read it." : "";
  throw new Error(`${showPath(path)} is a ${kindOf(info)}, not a directory.${hint}`);
}

function marked(
  directory: string,
  name: string,
  line: string,
  kind: "directory" | "link" | undefined,
): string {
  if (kind === "directory") return `${line}/`;
  return kind === "link" ? `${line} -> ${linkTarget(directory, name)}` : line;
}

function detailed(directory: string, name: string, line: string): string {
  const info = lookAt(join(directory, name));
  // List the entry although `lstat` failed.
  if (typeof info === "string") return `${info}\t-\t-\t${line}`;
  // A file system may hold times outside the range of Date.
  const isDate = !Number.isNaN(info.mtime.getTime());
  const time = isDate ? info.mtime.toISOString().replace(/\.\d+/, "") : "-";
  return `${kindOf(info)}\t${info.size}\t${time}\t${line}`;
}

/** The `lstat` of an entry, or why it failed: the entry was removed meanwhile, or permission is missing. */
function lookAt(path: string): Stats | "missing" | "unreadable" {
  try {
    // Node replaces invalid UTF-8 in a name with U+FFFD, and the system does not find the changed name.
    return lstatSync(path, { throwIfNoEntry: false }) ?? (path.includes("\ufffd") ? "unreadable" : "missing");
  } catch {
    return "unreadable";
  }
}

function linkTarget(directory: string, name: string): string {
  try {
    return escapeToLine(readlinkSync(join(directory, name)));
  } catch (error) {
    return `? (${fsCause(error)})`;
  }
}
