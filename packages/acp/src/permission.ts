import type { ApprovalDecision, ApprovalRequest } from "@agent/core";
import type { Editor } from "./editor.js";
import type { PermissionChoice } from "./host.js";
import type { BuiltInModes } from "./modes.js";
import { shownLine, textContent, viewCall } from "./toolCalls.js";

const ALLOW: PermissionChoice = { id: "allow", name: "Allow", kind: "allow_once" };
const ALWAYS: PermissionChoice = { id: "always", name: "Always allow this tool", kind: "allow_always" };
const REJECT: PermissionChoice = { id: "reject", name: "Reject", kind: "reject_once" };

/** Shows a call in the editor, with the whole command or diff, and lets the user choose. */
export async function choosePermission(
  editor: Editor,
  request: ApprovalRequest,
  choices: readonly PermissionChoice[],
  { callId, cwd }: { readonly callId: string; readonly cwd: string },
): Promise<string | undefined> {
  const { name, args, preview, signal } = request;
  const { title, kind, needs, caution, targets = [] } = request.description;
  const files = targets.filter((target) => target.type === "file");
  const view = viewCall({ name, args, preview, about: { title, kind, files } }, cwd);
  const reasons = needs.map(({ kind, path, reason }) =>
    textContent(`It ${kind}s ${shownLine(path)}: ${shownLine(reason)}.`),
  );
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

/** Decides about calls of an agent without approval rules: by the mode, then by asking the person. */
export class BuiltInPermissions {
  readonly #modes: BuiltInModes;
  readonly #always = new Set<string>();

  constructor(modes: BuiltInModes) {
    this.#modes = modes;
  }

  async decide(
    request: ApprovalRequest,
    choose: (choices: readonly PermissionChoice[]) => Promise<string | undefined>,
  ): Promise<ApprovalDecision> {
    const {
      name,
      description: { needs },
    } = request;
    const verdict = this.#modes.decide(request);
    if (verdict === "refuse") return { deny: "the session is read-only." };
    if (verdict === "allow") return "allow";
    // "Always" is stored here and not by the agent: after a change to read-only these tools must be refused too.
    if (this.#always.has(name) && needs.length === 0) return "allow";
    const chosen = await choose(needs.length === 0 ? [ALLOW, ALWAYS, REJECT] : [ALLOW, REJECT]);
    if (chosen === ALWAYS.id) this.#always.add(name);
    if (chosen === ALLOW.id || chosen === ALWAYS.id) return "allow";
    return { deny: chosen === undefined ? "the person closed the question." : "the person rejected it." };
  }
}
