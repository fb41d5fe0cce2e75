/** Helpers to start programs in bubblewrap or `sandbox-exec`: `@agent/core/sandbox`. */
export { type AddressKind, addressKind, isPublicAddress } from "./address.js";
export { type Gate, passGate } from "./gate.js";
export {
  canonicalHost,
  type Destination,
  formatDestination,
  type HostPattern,
  isAddress,
  matchesPattern,
  parseAuthority,
  parseHostPattern,
} from "./hostPattern.js";
export { type StdioEntry, withoutInherited } from "./inherited.js";
export {
  type Found,
  identify,
  listUnlocked,
  type RefusedFile,
  removeEmpty,
  renameRefused,
} from "./inspect.js";
export { bindMount, hideMounts, type Mount, mountArguments } from "./mounts.js";
export * as profileText from "./profileText.js";
export { seccompFilter } from "./seccomp.js";
