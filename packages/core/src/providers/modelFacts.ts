import { checkFunction, checkObject, checkText, EFFORTS } from "../toolkit/hostOptions/checks.js";
import type { Notices } from "./adapt/notices.js";
import type { ModelFacts } from "./factory.js";
import type { ChatRequest, Effort } from "./interface.js";

// A dated release of a model has the facts of that model. Any other suffix may be another model: "-mini", "-pro".
const RELEASE = /[-@](latest|\d{8}|\d{4}-\d{2}-\d{2})$/;

/** Facts by model id, without the date of a release: `claude-sonnet-4-5`. */
export type ModelTable = Readonly<Record<string, ModelFacts>>;

/** The facts about a model, or about the model that a release id belongs to. Their price is marked as an estimate. */
export function modelFacts(table: ModelTable, model: string): ModelFacts | undefined {
  checkObject("table", table);
  checkText("model", model);
  const id = [model, model.replace(RELEASE, "")].find((one) => Object.hasOwn(table, one));
  const facts = id === undefined ? undefined : table[id];
  return facts?.price ? { ...facts, price: { ...facts.price, isEstimate: true } } : facts;
}

/**
 * The effort to send for `request`: the nearest that the model supports, with a notice if it differs from the requested
 * one. `undefined`: send none. If `efforts` is unknown, the requested effort is sent.
 */
export function fitEffort(
  request: Pick<ChatRequest, "effort" | "onNotice">,
  model: string,
  efforts: readonly Effort[] | undefined,
  notices: Notices,
): Effort | undefined {
  checkObject("request", request);
  checkText("model", model);
  checkObject("notices", notices);
  checkFunction("notices.say", notices.say);
  const { effort } = request;
  if (effort === undefined || !efforts || efforts.includes(effort)) return effort;
  const wanted = EFFORTS.indexOf(effort);
  const [nearest] = [...efforts].sort(
    (a, b) => Math.abs(EFFORTS.indexOf(a) - wanted) - Math.abs(EFFORTS.indexOf(b) - wanted),
  );
  notices.say(
    request,
    nearest === undefined
      ? `${model} has no reasoning effort to set; it answers without.`
      : `${model} does not support the reasoning effort ${effort}; it works with ${nearest}.`,
  );
  return nearest;
}
