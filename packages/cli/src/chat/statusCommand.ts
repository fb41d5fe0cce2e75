import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { escapeToLine } from "@agent/internal";
import type { Status } from "@agent/terminal/host";

const TIMEOUT_MS = 2000;
const MOST_BYTES = 4096;

/**
 * Runs the `statusLine` command with the status as JSON on its standard input. Resolves to the first line of its
 * output, or to why there is none. Never rejects. The command is the user's own or that of a trusted project.
 */
export function runStatusCommand(command: string, status: Status, timeoutMs = TIMEOUT_MS): Promise<string> {
  const isWindows = process.platform === "win32";
  return new Promise((resolve) => {
    // Its own process group: the shell may have started processes that would outlive it.
    const child = spawn(command, {
      shell: true,
      stdio: ["pipe", "pipe", "ignore"],
      detached: !isWindows,
      windowsHide: true,
    });
    let output = "";
    const end = (text: string): void => {
      clearTimeout(timer);
      if (isWindows || child.pid === undefined) child.kill("SIGKILL");
      else killGroup(child.pid);
      child.stdout.destroy();
      resolve(text);
    };
    const shown = (): string => escapeToLine(stripVTControlCharacters(output.split("\n", 1)[0] ?? "").trim());
    const timer = setTimeout(() => end(`statusLine: no output in ${TIMEOUT_MS / 1000} seconds`), timeoutMs);
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output = (output + chunk).slice(0, MOST_BYTES);
      // The first line is enough: the command may run forever.
      if (output.includes("\n") || output.length === MOST_BYTES) end(shown());
    });
    child.on("error", (error) => end(`statusLine: ${escapeToLine(error.message)}`));
    child.on("close", (code) => end(output === "" && code !== 0 ? `statusLine: exit code ${code}` : shown()));
    // A command that does not read its input closes the pipe.
    child.stdin.on("error", () => undefined).end(`${JSON.stringify(status)}\n`);
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // No process of the group is left.
  }
}
