// Applies the agent's changes to a clean checkout, pushes a branch and opens a draft, with a token that the agent never had.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { github, harmless, repository, required, StepError, step } from "./common.mjs";

const MOST_PATCH = 1024 * 1024;
// Files that other machines run or trust when they see them in a branch.
const REFUSED = [
  /^\.github\//i,
  /^\.git(?:attributes|modules)$|\/\.git(?:attributes|modules)$/i,
  /(?:^|\/)\.git(?:\/|$)/i,
];
const FILE_MODES = ["100644", "100755"];
const GIT = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.symlinks=false"];

await step(async () => {
  const patch = required("AGENT_PATCH");
  if (statSync(patch).size > MOST_PATCH) throw new StepError("The changes are larger than 1 MiB.");
  const base = required("AGENT_BASE");
  const title = required("AGENT_TITLE");
  git("apply", "--index", "--whitespace=nowarn", patch);
  checkChanges();
  const branch = `agent/${randomBytes(6).toString("hex")}`;
  git("checkout", "-q", "-b", branch);
  git(
    "-c",
    "user.name=agent",
    "-c",
    "user.email=agent@users.noreply.github.com",
    "commit",
    "-q",
    "--no-verify",
    "-m",
    title,
  );
  git("push", "-q", remote(), `HEAD:refs/heads/${branch}`);
  const body = `${harmless(process.env.AGENT_TEXT ?? "").slice(0, 60_000)}\n\n<sub>Written by a model. Review it as the work of a stranger.</sub>`;
  await github(`/repos/${repository()}/pulls`, {
    method: "POST",
    body: { title, body, head: branch, base, draft: true },
  });
});

/** Checks the result of the patch, which names a moved file only by its new path. Only plain files are pushed. */
function checkChanges() {
  const parts = git("diff", "--cached", "--raw", "--no-renames", "-z").split("\0");
  const changes = [];
  for (let index = 0; index + 1 < parts.length; index += 2) changes.push([parts[index], parts[index + 1]]);
  if (changes.length === 0) throw new StepError("The patch changes nothing.");
  for (const [change, path] of changes) {
    const [, mode] = /^:\d+ (\d+) /.exec(change) ?? [];
    if (REFUSED.some((pattern) => pattern.test(path)))
      throw new StepError(`The agent changed ${JSON.stringify(path)}, which is never pushed.`);
    if (mode !== "000000" && !FILE_MODES.includes(mode))
      throw new StepError("The agent made a link or a submodule, which is never pushed.");
  }
}

/** The repository's URL. The token is in a variable, not in the URL, which error messages show. */
function remote() {
  return (
    process.env.AGENT_REMOTE || `${process.env.GITHUB_SERVER_URL ?? "https://github.com"}/${repository()}.git`
  );
}

function git(...args) {
  const basic = Buffer.from(`x-access-token:${required("GITHUB_TOKEN")}`).toString("base64");
  return execFileSync("git", [...GIT, ...args], {
    encoding: "utf8",
    env: {
      PATH: process.env.PATH,
      HOME: process.env.RUNNER_TEMP ?? "/tmp",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_TERMINAL_PROMPT: "0",
      ...(args[0] === "push" && {
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "http.extraheader",
        GIT_CONFIG_VALUE_0: `AUTHORIZATION: basic ${basic}`,
      }),
    },
  });
}
