// Refuses an event of someone who may not start the agent. Only this step of the action has a token.
import { github, repository, required, StepError, step } from "./common.mjs";

const ROLES = ["read", "triage", "write", "maintain", "admin"];
const NAME = /^[a-z\d](?:[a-z\d-]{0,38})(?:\[bot\])?$/i;

await step(async () => {
  const allow = required("AGENT_ALLOW").trim();
  if (allow === "anyone" || process.env.GITHUB_EVENT_NAME === "schedule") return;
  // The user who caused the event, and the one who started this attempt: a stranger's event can be run again.
  const actors = [required("GITHUB_ACTOR"), process.env.GITHUB_TRIGGERING_ACTOR || required("GITHUB_ACTOR")];
  for (const actor of new Set(actors)) {
    if (!NAME.test(actor)) throw new StepError("The name of the actor is not one of GitHub.");
    if (!(await isAllowed(actor, allow))) {
      throw new StepError(`${actor} may not start the agent here: "allow" is ${JSON.stringify(allow)}.`);
    }
  }
});

async function isAllowed(actor, allow) {
  if (!ROLES.includes(allow)) {
    const names = allow.split(",").map((name) => name.trim().toLowerCase());
    return names.includes(actor.toLowerCase());
  }
  const answer = await github(`/repos/${repository()}/collaborators/${encodeURIComponent(actor)}/permission`);
  // "permission" has three levels, "role_name" five; a custom role counts as its base role.
  const role = ROLES.includes(answer?.role_name) ? answer.role_name : answer?.permission;
  return ROLES.indexOf(role) >= ROLES.indexOf(allow);
}
