// What runs a search. The tools load it with the first call, or while a model is first asked: a request to the model
// needs their schemas alone.
export { searchFiles } from "./fileSearch.js";
export { sharedPool } from "./pool/shared.js";
export { formatFilesResult, formatTextResult } from "./report.js";
export { searchText } from "./textSearch.js";
