import type { Action, FileToolName } from "./action.js";
import { editFile } from "./actions/editFile.js";
import { listDirectory } from "./actions/listDir.js";
import { makeDirectory } from "./actions/mkdir.js";
import { moveEntry } from "./actions/move.js";
import { readFile } from "./actions/readFile.js";
import { removeEntry } from "./actions/remove.js";
import { writeFile } from "./actions/writeFile.js";

/** What each tool does when it is called. */
export const actions: Readonly<Record<FileToolName, Action>> = {
  read_file: readFile,
  write_file: writeFile,
  edit_file: editFile,
  list_dir: listDirectory,
  mkdir: makeDirectory,
  move: moveEntry,
  remove: removeEntry,
};
