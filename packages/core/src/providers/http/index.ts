/** What a provider on HTTP needs, ours and yours alike: `@agent/core/provider`. */
export { createRedactor } from "../../toolkit/redact.js";
export { checkRequest } from "../request.js";
export { type AttemptOptions, runAttempts } from "./attempts.js";
export { bodyError, statusError } from "./failure.js";
export type { IdleTimeout } from "./idleTimeout.js";
export { jsonText, parseJson } from "./json.js";
export { fetchSameOrigin } from "./redirect.js";
export { AttemptError, type Retryable, type RetryPolicy } from "./retry.js";
export { readEvents, readText } from "./sse.js";
