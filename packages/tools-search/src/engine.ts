/** What does the work. The first call loads it, so that a program that never searches does not wait for it. */
export { sharedPool } from "./pool/shared.js";
export { formatFilesResult, formatTextResult } from "./report.js";
export { searchText } from "./search.js";
export { searchFiles } from "./searchFiles.js";
