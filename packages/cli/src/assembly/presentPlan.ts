import { defineTool, type PackHost, registerPack } from "@agent/core";
import type { Mode, Permissions } from "@agent/core/host";
import { errorMessage } from "@agent/core/toolkit";
import type { AssembledTools } from "./assembleTools.js";

/** Its name. It is enabled in plan mode only. */
export const PLAN_TOOL = "present_plan";
const KEEP = "keep";
const EDIT = "edit";
/** The modes in which a plan can be carried out, by the choice that selects them. */
const CHOICES: readonly { readonly value: Mode | typeof EDIT | typeof KEEP; readonly title: string }[] = [
  { value: "edits", title: "yes, and accept edits" },
  { value: "ask", title: "yes, and ask before each change" },
  { value: EDIT, title: "change the plan in the editor first" },
  { value: KEEP, title: "no, continue planning" },
];
// As typed text. It does not say that edits are accepted.
const YES = /^\s*(?:y|yes|ok|okay)[.!]?\s*$/i;

export interface PlanOptions {
  readonly permissions: Permissions;
  readonly ask: NonNullable<PackHost["ask"]>;
  /** Lets the user edit a text in their own editor. Absent if that is not possible. */
  readonly edit?: ((text: string) => Promise<string>) | undefined;
}

/**
 * Lets the model present its plan in plan mode: the user accepts, edits or rejects it with a reason. An accepted plan
 * is carried out in the same turn, in the mode that the user chose. Returns a function that enables the tool in plan
 * mode and disables it otherwise; call it before and after each message.
 */
export function offerPlan({ registry }: Pick<AssembledTools, "registry">, options: PlanOptions): () => void {
  const { permissions, edit } = options;
  const tool = defineTool({
    name: PLAN_TOOL,
    description:
      "Present your plan when it is complete: what you will change, in which files, and how you will check it. The user accepts it, changes it or says what is missing.",
    input: {
      type: "object",
      properties: { plan: { type: "string", description: "The plan, as Markdown" } },
      required: ["plan"],
      additionalProperties: false,
    },
    capabilities: ["read"],
    kind: "other",
    deadlineMs: Number.POSITIVE_INFINITY,
    execute: async ({ plan: presented }, { signal }) => {
      if (permissions.mode !== "plan") return "Plan mode has ended: carry out the plan.";
      for (let plan = presented, problem: string | undefined; ; ) {
        const choice = await askAbout(plan, problem, options, signal);
        if (choice === EDIT && edit) {
          problem = undefined;
          const edited = await edit(`${plan}\n`).catch((error: unknown) => {
            problem = errorMessage(error);
            return "";
          });
          plan = edited.trim() || plan;
          continue;
        }
        const mode =
          choice === "edits" || choice === "ask" ? choice : YES.test(choice ?? "") ? "ask" : undefined;
        if (mode === undefined) {
          const reason = choice === undefined || choice === KEEP ? "" : ` They say: ${choice}`;
          return `The user does not accept the plan yet.${reason} Continue to plan, or ask what is missing.`;
        }
        permissions.mode = mode;
        return plan === presented
          ? "The user accepts the plan. Plan mode has ended: carry it out now."
          : `The user accepts the plan with changes. Plan mode has ended: carry it out now, as it is here.\n\n${plan}`;
      }
    },
  });
  registerPack(registry, {
    packName: "@agent/cli",
    packApiVersion: 1,
    register: (to) => to.register(tool, { enabled: false }),
  });
  return () => {
    if (permissions.mode === "plan") registry.enable(PLAN_TOOL);
    else registry.disable(PLAN_TOOL);
  };
}

/**
 * The value of a choice, or what the user typed instead; `undefined` if the question was closed. `problem` is why the
 * plan could not be changed.
 */
async function askAbout(
  plan: string,
  problem: string | undefined,
  { ask, edit }: PlanOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answer = await ask({
    source: "The model",
    message: plan,
    fields: [
      {
        name: "choice",
        type: "choice",
        title: "Carry out this plan?",
        ...(problem !== undefined && { description: problem }),
        required: true,
        other: true,
        options: CHOICES.filter(({ value }) => value !== EDIT || edit !== undefined),
      },
    ],
    immediate: true,
    signal,
  });
  return answer.answer === "yes" ? String(answer.values.choice) : undefined;
}
