// Writes the event to a file: data for the model, as of the time of the event.
import { writeFileSync } from "node:fs";
import { readEvent, required, step, visible } from "./common.mjs";

await step(async () => {
  const event = readEvent();
  const { issue, pull_request: pull, comment, review } = event;
  const text = {
    event: process.env.GITHUB_EVENT_NAME ?? "",
    action: visible(event.action),
    from: visible(event.sender?.login),
    ...(issue && { issue: described(issue) }),
    ...(pull && {
      pullRequest: { ...described(pull), from: branch(pull.head), to: branch(pull.base) },
    }),
    ...(comment && { comment: { id: comment.id, path: visible(comment.path), body: visible(comment.body) } }),
    ...(review && { review: { state: visible(review.state), body: visible(review.body) } }),
  };
  writeFileSync(required("AGENT_EVENT_FILE"), `${JSON.stringify(text, undefined, 1)}\n`, { mode: 0o600 });
});

function described({ number, title, body, labels }) {
  return {
    number,
    title: visible(title),
    body: visible(body),
    labels: Array.isArray(labels) ? labels.map(({ name }) => visible(name)) : [],
  };
}

function branch(side) {
  return {
    branch: visible(side?.ref),
    commit: visible(side?.sha),
    repository: visible(side?.repo?.full_name),
  };
}
