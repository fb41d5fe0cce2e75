// Posts text of the agent as a comment, with a token that the agent never had.
import { eventNumber, github, harmless, repository, required, StepError, step } from "./common.mjs";

const MOST_COMMENT = 60_000;

await step(async () => {
  const text = harmless(required("AGENT_TEXT")).trim();
  if (text === "") throw new StepError("There is nothing to post.");
  const body = `${text.slice(0, MOST_COMMENT)}\n\n<sub>Written by a model. Mentions, references and links are disabled.</sub>`;
  await github(`/repos/${repository()}/issues/${eventNumber()}/comments`, { method: "POST", body: { body } });
});
