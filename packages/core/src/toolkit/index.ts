/** Helpers for pack authors, used by built-in and third-party packs alike: `@agent/core/toolkit`. */
export { writeFileAtomic } from "./files/writeFileAtomic.js";
export { check } from "./hostOptions/check.js";
export { checkOptions, type OptionChecks } from "./hostOptions/checkOptions.js";
export { invalidArgument, type ValueCheck } from "./hostOptions/checks.js";
export { packOptions } from "./hostOptions/packOptions.js";
export { isRecord } from "./isRecord.js";
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
export { didYouMean } from "./text/didYouMean.js";
export { errorMessage } from "./text/errorMessage.js";
export { escapeInvisible } from "./text/escapeInvisible.js";
export { quote } from "./text/quote.js";
export { draftTitle } from "./text/title.js";
export { truncateMiddle } from "./text/truncateMiddle.js";
