/** Helpers for pack authors, used by built-in and third-party packs alike: `@agent/core/toolkit`. */
export {
  assertAccess,
  assertNotProcessSecret,
  assertOpenedIsNotProcessSecret,
  canonicalPath,
  canonicalPaths,
  countOf,
  delay,
  describeValue,
  errorMessage,
  escapeToLine,
  findAccessNeed,
  findOnWindows,
  findProgram,
  findRepository,
  foldPath,
  GitConfigs,
  HELPER_ENVIRONMENT,
  type HeldLock,
  hasEnded,
  IGNORE_FILES,
  type IgnoreFileReader,
  IgnoreScope,
  isInside,
  isProcessSecret,
  isRecord,
  isSecretName,
  isSecretValue,
  KEY_VARIABLES,
  killWindowsTree,
  LONGEST_TIMER_MS,
  lazyConstant,
  lockDirectory,
  lockFile,
  lockHolder,
  type Mortal,
  type MortalPlaceholders,
  matchesName,
  mountOf,
  mountOfDirectory,
  namesOpenFiles,
  openedPath,
  PROTECTED_FILES,
  type ProtectedFile,
  pinDirectory,
  prepareLockDirectory,
  processTag,
  quoteForShell,
  quotePath,
  type StartableProgram,
  safeVariables,
  shorten,
  startableProgram,
  temporaryName,
  truncateUtf8,
  truncateUtf8Start,
  tryAcquireLock,
  unsavedText,
  utf8Boundary,
  Watchdog,
  withTimeout,
} from "@agent/internal";
export { orAborted } from "./abort.js";
export { nodeModule } from "./files/nodeModules.js";
export { readRegularFile } from "./files/readRegularFile.js";
export { writeFileAtomic } from "./files/writeFileAtomic.js";
export { check } from "./hostOptions/check.js";
export { checkOptions, type OptionChecks } from "./hostOptions/checkOptions.js";
export { invalidArgument, type ValueCheck } from "./hostOptions/checks.js";
export { packOptions } from "./hostOptions/packOptions.js";
export { compileSchema } from "./jsonSchema/compile.js";
export { functionTool } from "./jsonSchema/functionTool.js";
export {
  optionalBoolean,
  optionalInteger,
  optionalString,
  optionalStringArray,
  requireString,
} from "./modelArguments/arguments.js";
export { onAbort } from "./onAbort.js";
export { createPathGuard, type PathGuard } from "./paths/createPathGuard.js";
export { applyEdits, compactDiff, diffLines, type TextEdit } from "./text/compactDiff.js";
export { type FileDiffOptions, fileDiff } from "./text/fileDiff.js";
export { lineStart, newlinesBetween, nextLine } from "./text/lines.js";
export {
  createRedactor,
  didYouMean,
  escapeInvisible,
  type HintOptions,
  quote,
  truncateMiddle,
} from "./text/text.js";
export { draftTitle } from "./text/title.js";
