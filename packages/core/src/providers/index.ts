/** Helpers for providers on HTTP, ours and yours alike: `@agent/core/provider`. */

export { isRecord } from "@agent/internal";
export { adaptContent, contentText } from "../conversation/content.js";
export { outputInstruction } from "../loop/output.js";
export { withCost } from "../loop/usage.js";
export { checkRequest } from "../toolkit/hostOptions/checks.js";
export { createRedactor } from "../toolkit/text/text.js";
export { PROVIDER_KEY_VARIABLES } from "../tools/secrets.js";
export { callArguments } from "./adapt/callArguments.js";
export { fitCallId } from "./adapt/callIds.js";
export { type JsonText, JsonTexts, jsonBody, jsonItems } from "./adapt/jsonBody.js";
export { type AdaptedSchema, pickKeywords } from "./adapt/keywords.js";
export { mapSchemas } from "./adapt/mapSchemas.js";
export { MediaFitter, type MediaLimits } from "./adapt/media.js";
export { Notices } from "./adapt/notices.js";
export { objectSchema } from "./adapt/objectSchema.js";
export { contentParts } from "./adapt/parts.js";
export { systemTexts } from "./adapt/systemTexts.js";
export { type AdaptedTool, ToolAdapter } from "./adapt/tools.js";
export { type Turn, TurnList } from "./adapt/turns.js";
export { AnswerBuilder } from "./answer/builder.js";
export { AnswerLimits, callId, callName } from "./answer/limits.js";
export { type AnswerPiece, answerPieces } from "./answer/pieces.js";
export { type ReportedUsage, readTokenUsage, sumTokens } from "./answer/usage.js";
export { type AttemptOptions, runAttempts } from "./http/attempts.js";
export { type EndpointOptions, HttpEndpoint, type Send } from "./http/endpoint.js";
export { bodyError, type Hint, statusError } from "./http/failure.js";
export type { IdleTimeout } from "./http/idleTimeout.js";
export { jsonText, parseJson } from "./http/json.js";
export { listModelPages, type ModelPages, recordsIn } from "./http/models.js";
export {
  type CheckedOptions,
  headerSecrets,
  invalidOption,
  type OptionRules,
  readProviderOptions,
} from "./http/options.js";
export { fetchSameOrigin } from "./http/redirect.js";
export { AttemptError, incompleteAnswer, type Retryable, type RetryPolicy } from "./http/retry.js";
export { readEvents, readText } from "./http/sse.js";
export { type AnswerReader, askWire, type Wire } from "./http/wire.js";
export { fitEffort, type ModelTable, modelFacts } from "./modelFacts.js";
