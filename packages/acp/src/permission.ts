import type { ApprovalDecision, ApprovalRequest } from "@agent/core";
import type { Editor } from "./editor.js";
import type { PermissionChoice } from "./host.js";
import type { BuiltInModes } from "./modes.js";
import type { TextReader } from "./textReader.js";
import { describeCall, shownLine, textContent } from "./toolCalls.js";

const ALLOW: PermissionChoice = { id: "allow", name: "Allow", kind: "allow_once" };
const ALWAYS: PermissionChoice = { id: "always", name: "Always allow this tool", kind: "allow_always" };
const REJECT: PermissionChoice = { id: "reject", name: "Reject", kind: "reject_once" };

/** Shows a call in the editor, with the whole command or difference, and lets the person choose. */
export async function choosePermission(
  editor: Editor,
  request: ApprovalRequest,
  choices: readonly PermissionChoice[],
  { callId, cwd, read }: { readonly callId: string; readonly cwd: string; readonly read: TextReader },
): Promise<string | undefined> {
  const { args, needs, signal } = request;
  const view = await describeCall(request, cwd, read);
  const reasons = needs.map(({ kind, path, reason }) =>
    textContent(`It ${kind}s ${shownLine(path)}: ${shownLine(reason)}.`),
  );
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

/** Decides about calls of an agent that has no rules of its own: by the mode, then by the person. */
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
    const { name, needs } = request;
    const verdict = this.#modes.decide(request);
    if (verdict === "refuse") return { deny: "the session is read-only." };
    if (verdict === "allow") return "allow";
    // Kept here rather than by the agent: a later change to read-only must hold for these tools too.
    if (this.#always.has(name) && needs.length === 0) return "allow";
    const chosen = await choose(needs.length === 0 ? [ALLOW, ALWAYS, REJECT] : [ALLOW, REJECT]);
    if (chosen === ALWAYS.id) this.#always.add(name);
    if (chosen === ALLOW.id || chosen === ALWAYS.id) return "allow";
    return { deny: chosen === undefined ? "the person closed the question." : "the person rejected it." };
  }
}
