/** Runs packs in separate processes with only the access that was granted: `@agent/core/isolation`. */
export {
  describeGrants,
  grantsOf,
  Isolation,
  type IsolationLevel,
  type IsolationStatus,
  maySendOthers,
} from "./isolation.js";
export { type PackGrants, type PackManifest, readGrants, readManifest } from "./manifest.js";
export { linkedDirectories } from "./packageFiles.js";
