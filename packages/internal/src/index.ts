/**
 * Code shared by our own packages that pack authors do not need. Each package bundles its part, so nothing here is
 * published or has a version. Functions and constants only: a bundled copy must not differ from another by its state.
 */
export {
  nodeChildProcess,
  nodeCrypto,
  nodeFs,
  nodeModule,
  nodeNet,
  nodeOs,
  nodePath,
} from "./files/nodeModules.js";
export { namesOpenFiles, openedPath } from "./files/openedPath.js";
export { mountOf, mountOfDirectory, pinDirectory } from "./files/pinnedDirectory.js";
export { type HeldLock, lockHolder, tryAcquireLock } from "./files/processLock.js";
export { hasEnded, processTag } from "./files/processTag.js";
export { readRegularFile, withRegularFile } from "./files/readRegularFile.js";
export { removeAbandoned, temporaryName } from "./files/temporaryName.js";
export { GitConfigs, type NamedByGit } from "./git/gitConfigs.js";
export { findRepository, findWorktree, ownAncestors } from "./git/repository.js";
export {
  IGNORE_FILES,
  type IgnoreFileReader,
  IgnoreScope,
  isIgnoredDirectory,
  PLAIN_READER,
} from "./ignore/scope.js";
export { isRecord } from "./isRecord.js";
export { lazyConstant } from "./lazyConstant.js";
export { canonicalPath, canonicalPaths } from "./paths/canonicalPath.js";
export { foldPath } from "./paths/foldPath.js";
export { isInside } from "./paths/isInside.js";
export { readRegularFileInside } from "./paths/readInside.js";
export { windowsNameProblem } from "./paths/windowsName.js";
export { findProgram } from "./processes/findProgram.js";
export { HELPER_ENVIRONMENT } from "./processes/helperEnvironment.js";
export { lockDirectory, lockFile, prepareLockDirectory } from "./processes/lockDirectory.js";
export { safeVariables } from "./processes/safeVariables.js";
export { type Mortal, type MortalPlaceholders, Watchdog } from "./processes/watchdog.js";
export {
  findOnWindows,
  killWindowsTree,
  type StartableProgram,
  startableProgram,
  systemProgram,
} from "./processes/windowsProgram.js";
export { assertAccess, findAccessNeed } from "./protection/access.js";
export {
  assertNotProcessSecret,
  assertOpenedIsNotProcessSecret,
  isProcessSecret,
} from "./protection/processSecrets.js";
export { matchesName, PROTECTED_FILES, type ProtectedFile } from "./protection/protectedFiles.js";
export { isSecretName, isSecretValue, KEY_VARIABLES } from "./protection/secretNames.js";
export { concatBytes, fromUtf8, toBase64, toUtf8, utf8Length } from "./text/bytes.js";
export { countOf } from "./text/countOf.js";
export { delimited } from "./text/delimited.js";
export { describeValue, errorMessage, quote, quotePath } from "./text/describe.js";
export { fenced } from "./text/fenced.js";
export { didYouMean } from "./text/nearest.js";
export { quoteForShell } from "./text/quoteForShell.js";
export { createRedactor } from "./text/redact.js";
export { findConfusables, misreadings, spellOut } from "./text/spellOut.js";
export {
  firstSentence,
  shorten,
  truncateMiddle,
  truncateUtf8,
  truncateUtf8Start,
  utf8Boundary,
} from "./text/truncate.js";
export { unsavedText } from "./text/unsavedText.js";
export { escapeInvisible, escapeToLine, hasHiddenTags, revealHiddenTags } from "./text/visible.js";
export { delay, LONGEST_TIMER_MS, withTimeout } from "./timer.js";
