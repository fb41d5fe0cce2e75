// Code shared by the steps. They get everything from the environment: no text of an event is ever part of a script.
import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";

const MOST_TEXT = 64 * 1024;
// Control characters except tab and line feed, and characters that are invisible to people but not to models.
const INVISIBLE = /(?![\t\n])(?:[\p{Cc}\p{Cf}\p{Co}\u2028\u2029]|\p{Variation_Selector})/gu;

export class StepError extends Error {}

/** Runs a step; an error for the user becomes one line of the log and exit code 1. */
export async function step(run) {
  try {
    await run();
  } catch (error) {
    const text = error instanceof StepError ? error.message : String(error?.stack ?? error);
    // A line of the log that starts with "::" is a command to the runner, so its parts are escaped.
    const escaped = text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
    process.stdout.write(`::error::${escaped}\n`);
    process.exitCode = 1;
  }
}

export function required(name) {
  const value = process.env[name];
  if (value === undefined || value === "") throw new StepError(`${name} is not set.`);
  return value;
}

export function readEvent() {
  return JSON.parse(readFileSync(required("GITHUB_EVENT_PATH"), "utf8"));
}

/** Sets an output of the step. The end of the value cannot be forged: its delimiter is random. */
export function setOutput(name, value) {
  const mark = randomUUID();
  appendFileSync(required("GITHUB_OUTPUT"), `${name}<<${mark}\n${value}\n${mark}\n`);
}

/** Removes what people would not see from untrusted text: control characters, invisible characters, HTML comments. */
export function visible(text) {
  if (typeof text !== "string") return "";
  return text
    .replaceAll("\r\n", "\n")
    .replace(INVISIBLE, "")
    .replace(/<!--[\s\S]*?(?:-->|$)/g, "")
    .slice(0, MOST_TEXT);
}

/**
 * Makes text of a model safe for a page of GitHub: it mentions no one, closes no issue, loads nothing and starts no
 * other bot.
 */
export function harmless(text) {
  return (
    visible(text)
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll("@", "@\u200b")
      .replace(/#(?=\d)/g, "#\u200b")
      .replace(/\bGH-(?=\d)/gi, "GH\u200b-")
      .replace(/!+(?=\[)/g, "")
      // Each bracket, not pairs: nested pairs could be overlooked.
      .replaceAll("](", "] (")
      .replaceAll("]:", "]\u200b:")
      .replaceAll("://", ":\u200b//")
      .replace(/\bwww\./gi, "www\u200b.")
      .replace(/^(\s*)\//gm, "$1\u200b/")
  );
}

/** Calls the GitHub API with the token of this step. */
export async function github(path, { method = "GET", body } = {}) {
  const response = await fetch(`${process.env.GITHUB_API_URL ?? "https://api.github.com"}${path}`, {
    method,
    redirect: "error",
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${required("GITHUB_TOKEN")}`,
      "x-github-api-version": "2022-11-28",
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (response.status === 404) return undefined;
  if (!response.ok) throw new StepError(`${method} ${path}: GitHub answered ${response.status}.`);
  return await response.json();
}

export function repository() {
  const name = required("GITHUB_REPOSITORY");
  if (!/^[\w.-]+\/[\w.-]+$/.test(name)) throw new StepError("GITHUB_REPOSITORY is not a repository.");
  return name;
}

/** The number of the issue or pull request of the event. */
export function eventNumber(event = readEvent()) {
  const number = event.issue?.number ?? event.pull_request?.number;
  if (!Number.isSafeInteger(number) || number < 1)
    throw new StepError("The event has no issue and no pull request.");
  return number;
}
