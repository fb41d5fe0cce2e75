import { arrayOf, checkFunction, checkObject, checkSignal } from "../toolkit/checks.js";
import type { ChatRequest } from "./interface.js";

const checkMessages = arrayOf("messages");
const checkTools = arrayOf("tools");

/** Throws `invalid_argument` unless a provider of core was handed a whole request. */
export function checkRequest(request: ChatRequest): void {
  checkObject("request", request);
  checkMessages("request.messages", request.messages);
  checkTools("request.tools", request.tools);
  checkSignal("request.signal", request.signal);
  if (request.onText !== undefined) checkFunction("request.onText", request.onText);
  if (request.onRetry !== undefined) checkFunction("request.onRetry", request.onRetry);
}
