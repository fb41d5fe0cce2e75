// Adds labels that the agent chose, if the workflow allows them. Anything else in the answer is ignored.
import { eventNumber, github, repository, required, StepError, step } from "./common.mjs";

const MOST_LABELS = 5;

await step(async () => {
  const allowed = required("AGENT_ALLOWED_LABELS")
    .split(",")
    .map((name) => name.trim());
  const chosen = readLabels(required("AGENT_OUTPUT"));
  const labels = allowed.filter((name) => name !== "" && chosen.includes(name)).slice(0, MOST_LABELS);
  if (labels.length === 0) return;
  await github(`/repos/${repository()}/issues/${eventNumber()}/labels`, { method: "POST", body: { labels } });
});

function readLabels(text) {
  try {
    const { labels } = JSON.parse(text);
    if (Array.isArray(labels)) return labels;
  } catch {
    // Reported below.
  }
  throw new StepError('The output of the agent has no list "labels".');
}
