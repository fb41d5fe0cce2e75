import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

export const ACTION = fileURLToPath(new URL("../../action", import.meta.url));

interface Step {
  readonly id?: string;
  readonly name: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly run: string;
}

export interface ActionResult {
  /** The name of the step that failed. */
  readonly failed: string | undefined;
  readonly log: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
}

/** A GitHub runner, as far as a composite action uses it: a checkout, an event and the files of steps. */
export class Runner {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "agent-action-")));
  readonly workspace = join(this.root, "work");
  readonly temp = join(this.root, "temp");
  readonly #env: Readonly<Record<string, string>>;

  constructor(env: Readonly<Record<string, string>> = {}) {
    this.#env = env;
    for (const directory of [this.workspace, this.temp]) mkdirSync(directory);
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.workspace, path), text);
  }

  /** Also ends a proxy that a failed step left: a real runner kills it with the job. */
  async remove(): Promise<void> {
    const proxy = join(this.temp, "agent-action", "proxy.json");
    if (existsSync(proxy)) {
      const { port, token } = JSON.parse(readFileSync(proxy, "utf8"));
      const end = { method: "DELETE", headers: { authorization: `Bearer ${token}` } };
      // One that has ended already refuses the connection.
      await fetch(`http://127.0.0.1:${port}/`, end).catch(() => undefined);
    }
    rmSync(this.root, { recursive: true, force: true });
  }

  /**
   * Runs the scripts of an action as the runner does, in order, until one fails. Steps in `given` have run already; `only`
   * is the name of the one step to run.
   */
  async run(
    name: string,
    inputs: Readonly<Record<string, string>>,
    event: unknown,
    given: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
    only?: string,
  ): Promise<ActionResult> {
    const folder = join(ACTION, name);
    const action = parse(readFileSync(join(folder, "action.yml"), "utf8"));
    const eventFile = join(this.temp, "event.json");
    const [outputFile, summaryFile] = [join(this.temp, "output"), join(this.temp, "summary")];
    for (const file of [outputFile, summaryFile]) writeFileSync(file, "");
    writeFileSync(eventFile, typeof event === "string" ? event : JSON.stringify(event));
    const value = (expression: string): string => {
      const [kind = "", key = "", , output = ""] = expression.split(".");
      if (kind === "steps") return given[key]?.[output] ?? "";
      if (kind !== "inputs") throw new Error(`The runner does not know ${expression}.`);
      return inputs[key] ?? String(action.inputs[key]?.default ?? "");
    };
    let log = "";
    for (const step of action.runs.steps as readonly Step[]) {
      if ((step.id !== undefined && given[step.id]) || (only !== undefined && step.name !== only)) continue;
      const env = Object.fromEntries(
        Object.entries(step.env ?? {}).map(([key, text]) => [
          key,
          text.replaceAll(/\$\{\{ (.+?) \}\}/g, (_, expression: string) => value(expression)),
        ]),
      );
      const { code, text } = await bash(step.run, this.workspace, {
        PATH: process.env.PATH ?? "",
        HOME: this.root,
        RUNNER_TEMP: this.temp,
        GITHUB_ACTION_PATH: folder,
        GITHUB_ACTOR: "ann",
        GITHUB_EVENT_NAME: "issues",
        GITHUB_EVENT_PATH: eventFile,
        GITHUB_OUTPUT: outputFile,
        GITHUB_STEP_SUMMARY: summaryFile,
        GITHUB_REPOSITORY: "shop/shop",
        // Variables of a real job that the agent must not see.
        ACTIONS_RUNTIME_TOKEN: "runtime-token",
        NODE_OPTIONS: "",
        ...this.#env,
        ...env,
      });
      log += text;
      const files = { outputs: readOutputs(outputFile), summary: readFileSync(summaryFile, "utf8") };
      if (code !== 0) return { failed: step.name, log, ...files };
    }
    return {
      failed: undefined,
      log,
      outputs: readOutputs(outputFile),
      summary: readFileSync(summaryFile, "utf8"),
    };
  }
}

/** Runs a script as `shell: bash` of a workflow does. */
function bash(
  script: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; text: string }> {
  const child = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", script], { cwd, env });
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  child.stderr.on("data", (chunk) => {
    text += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    // Not "close": the proxy may outlive its step.
    child.on("exit", (code) => resolve({ code, text }));
  });
}

/** The outputs, as the runner reads them. */
function readOutputs(file: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  const lines = readFileSync(file, "utf8").split("\n");
  for (let index = 0; index < lines.length; index++) {
    const [, name, mark] = /^([^=<]+)<<(.+)$/.exec(lines[index] ?? "") ?? [];
    if (name === undefined || mark === undefined) continue;
    const end = lines.indexOf(mark, index + 1);
    outputs[name] = lines.slice(index + 1, end).join("\n");
    index = end;
  }
  return outputs;
}
