import type { ApprovalDecision, ApprovalRequest, ToolRegistry } from "@agent/core";
import { GrantedRules, offerRules } from "@agent/core/host";
import type { Editor } from "./editor.js";
import type { PermissionChoice } from "./host.js";
import type { BuiltInModes } from "./modes.js";
import { shownLine, textContent, viewCall } from "./toolCalls.js";

const ALLOW: PermissionChoice = { id: "allow", name: "Allow", kind: "allow_once" };
const REJECT: PermissionChoice = { id: "reject", name: "Reject", kind: "reject_once" };

/** Shows a call in the editor, with the whole command or diff, and lets the user choose. */
export async function choosePermission(
  editor: Editor,
  request: ApprovalRequest,
  choices: readonly PermissionChoice[],
  { callId, cwd }: { readonly callId: string; readonly cwd: string },
): Promise<string | undefined> {
  const { name, args, preview, signal, label } = request;
  const { title, kind, needs, caution, targets = [] } = request.description;
  const files = targets.filter((target) => target.type === "file");
  const view = viewCall({ name, args, preview, about: { title, kind, files } }, cwd);
  const reasons = needs.map(({ kind, path, reason }) =>
    textContent(`It ${kind}s ${shownLine(path)}: ${shownLine(reason)}.`),
  );
  if (label !== undefined) reasons.unshift(textContent(`Asked by the sub-agent ${shownLine(label)}.`));
  if (caution !== undefined) reasons.push(textContent(`${shownLine(caution)}.`));
  return await editor.askPermission(
    {
      toolCallId: callId,
      ...view,
      content: [...view.content, ...reasons],
      status: "pending",
      rawInput: args,
    },
    choices.map(({ id, ...choice }) => ({ optionId: id, ...choice })),
    signal,
  );
}

/** Decides about calls of an agent without approval rules: by the mode, then by asking the user. */
export class BuiltInPermissions {
  readonly #modes: BuiltInModes;
  #granted: GrantedRules | undefined;

  constructor(modes: BuiltInModes) {
    this.#modes = modes;
  }

  async decide(
    request: ApprovalRequest,
    choose: (choices: readonly PermissionChoice[]) => Promise<string | undefined>,
    { registry, cwd }: { readonly registry: ToolRegistry; readonly cwd: string },
  ): Promise<ApprovalDecision> {
    const verdict = this.#modes.decide(request);
    if (verdict === "refuse") return { deny: "the session is read-only." };
    if (verdict === "allow") return "allow";
    // "Always" is stored here and not by the agent: after a change to read-only these calls must be refused too.
    this.#granted ??= new GrantedRules(registry, cwd);
    if ((await this.#granted.decide(request)).type === "allow") return "allow";
    const offers = (await offerRules(request, { tools: registry, root: cwd })).slice(1);
    const always = offers.map(({ rule, label }, index): PermissionChoice & { rule: string } => ({
      id: index === offers.length - 1 ? "always" : `always-${index}`,
      name: shownLine(index === offers.length - 1 ? "Always allow this tool" : `Always allow ${label}`),
      kind: "allow_always",
      rule,
    }));
    const chosen = await choose([ALLOW, ...always.map(({ rule: _, ...choice }) => choice), REJECT]);
    const rule = always.find(({ id }) => id === chosen)?.rule;
    if (rule !== undefined) this.#granted.allow(rule);
    if (chosen === ALLOW.id || rule !== undefined) return "allow";
    return { deny: chosen === undefined ? "the user closed the question." : "the user rejected it." };
  }
}
