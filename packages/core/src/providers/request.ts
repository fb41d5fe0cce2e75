import { arrayOf, checkFunction, checkObject, checkSignal } from "../toolkit/hostOptions/checks.js";
import type { ChatRequest } from "./interface.js";

const checkMessages = arrayOf("messages");
const checkTools = arrayOf("tools");
const CALLBACKS = ["onText", "onReasoning", "onToolDraft", "onRetry", "onNotice"] as const;

/** Throws `invalid_argument` unless a provider of core was handed a whole request. */
export function checkRequest(request: ChatRequest): void {
  checkObject("request", request);
  checkMessages("request.messages", request.messages);
  checkTools("request.tools", request.tools);
  checkSignal("request.signal", request.signal);
  for (const name of CALLBACKS) {
    if (request[name] !== undefined) checkFunction(`request.${name}`, request[name]);
  }
}
