/** What every pack author needs, built-in and third-party alike: `@agent/core/toolkit`. */
export { type AccessOptions, assertAccess, findAccessNeed } from "./access.js";
export {
  optionalBoolean,
  optionalInteger,
  optionalString,
  optionalStringArray,
  requireString,
  requireText,
} from "./arguments.js";
export { writeFileAtomic } from "./atomicWrite.js";
export {
  checkBoolean,
  checkFunction,
  checkObject,
  checkPositive,
  checkRegistry,
  checkText,
  invalidArgument,
  type ValueCheck,
} from "./checks.js";
export { canonicalPath, createPathGuard, isInside, type PathGuard } from "./confine.js";
export { describeValue, errorMessage, quote, quotePath } from "./describe.js";
export { foldPath } from "./foldPath.js";
export { functionTool } from "./functionTool.js";
export { GitConfigs, type NamedByGit } from "./git/gitConfigs.js";
export { isRecord } from "./isRecord.js";
export { compileSchema } from "./jsonSchema/compile.js";
export { SchemaError } from "./jsonSchema/keywords.js";
export { didYouMean, nearestMatch } from "./nearest.js";
export { onAbort } from "./onAbort.js";
export { checkOptions, type OptionChecks } from "./options.js";
export { packOptions } from "./packOptions.js";
export {
  assertNotProcessSecret,
  assertOpenedIsNotProcessSecret,
  isProcessSecret,
} from "./processSecrets.js";
export { hasEnded, processTag } from "./processTag.js";
export { PROTECTED_FILES, type ProtectedFile, type ProtectionScope } from "./protectedFiles.js";
export { temporaryName } from "./temporaryName.js";
export { LONGEST_TIMER_MS } from "./timer.js";
export { truncateMiddle, truncateUtf8, truncateUtf8Start, utf8Boundary } from "./truncate.js";
export { escapeInvisible, escapeToLine } from "./visible.js";
export { countOf } from "./words.js";
