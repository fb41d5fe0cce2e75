import { isRecord } from "@agent/internal";
import { checkObject } from "../../toolkit/hostOptions/checks.js";
import type { ChatToolCall } from "../interface.js";

/**
 * The arguments of a call in the history, as the object that many APIs want. The history holds valid JSON; an edited
 * session file may not, and then the arguments are `{}`.
 */
export function callArguments(call: ChatToolCall): Readonly<Record<string, unknown>> {
  checkObject("call", call);
  try {
    const args: unknown = JSON.parse(call.function.arguments);
    return isRecord(args) ? args : {};
  } catch {
    return {};
  }
}
