/** Helpers for pack authors, used by built-in and third-party packs alike: `@agent/core/toolkit`. */
export { orAborted } from "./abort.js";
export {
  assertAccess,
  assertNotProcessSecret,
  assertOpenedIsNotProcessSecret,
  findAccessNeed,
  isProcessSecret,
  isSecretName,
  isSecretValue,
  KEY_VARIABLES,
  matchesName,
  PROTECTED_FILES,
  type ProtectedFile,
} from "./access.js";
export {
  type HeldLock,
  hasEnded,
  lockDirectory,
  lockFile,
  lockHolder,
  prepareLockDirectory,
  processTag,
  tryAcquireLock,
} from "./files/locks.js";
export {
  mountOf,
  mountOfDirectory,
  namesOpenFiles,
  openedPath,
  pinDirectory,
  readRegularFile,
  temporaryName,
  unsavedText,
} from "./files/opened.js";
export { writeFileAtomic } from "./files/writeFileAtomic.js";
export { check } from "./hostOptions/check.js";
export { checkOptions, type OptionChecks } from "./hostOptions/checkOptions.js";
export { invalidArgument, type ValueCheck } from "./hostOptions/checks.js";
export { packOptions } from "./hostOptions/packOptions.js";
export { isRecord } from "./isRecord.js";
export { compileSchema } from "./jsonSchema/compile.js";
export { functionTool } from "./jsonSchema/functionTool.js";
export { lazyConstant, nodeModule } from "./lazy.js";
export {
  optionalBoolean,
  optionalInteger,
  optionalString,
  optionalStringArray,
  requireString,
} from "./modelArguments/arguments.js";
export { onAbort } from "./onAbort.js";
export { createPathGuard, type PathGuard } from "./paths/createPathGuard.js";
export { canonicalPath, canonicalPaths, foldPath, isInside } from "./paths/places.js";
export {
  findOnWindows,
  findProgram,
  HELPER_ENVIRONMENT,
  killWindowsTree,
  type Mortal,
  type MortalPlaceholders,
  type StartableProgram,
  safeVariables,
  startableProgram,
  Watchdog,
} from "./programs.js";
export {
  findRepository,
  GitConfigs,
  IGNORE_FILES,
  type IgnoreFileReader,
  IgnoreScope,
} from "./repositories.js";
export { didYouMean, type HintOptions } from "./text/didYouMean.js";
export { errorMessage } from "./text/errorMessage.js";
export { escapeInvisible } from "./text/escapeInvisible.js";
export {
  countOf,
  describeValue,
  escapeToLine,
  quotePath,
  truncateUtf8,
  truncateUtf8Start,
  utf8Boundary,
} from "./text/lines.js";
export { quote } from "./text/quote.js";
export { createRedactor } from "./text/redact.js";
export { draftTitle } from "./text/title.js";
export { truncateMiddle } from "./text/truncateMiddle.js";
export { delay, LONGEST_TIMER_MS, withTimeout } from "./timers.js";
