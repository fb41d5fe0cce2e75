import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ignoringInterrupts } from "../system/signals.js";

const isWindows = process.platform === "win32";

/** The user's editor: `$VISUAL`, `$EDITOR`, or the one that every system has. */
export function editorCommand(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return env.VISUAL || env.EDITOR || (isWindows ? "notepad" : "vi");
}

/**
 * Lets a user edit a text in their own editor and resolves to it. The text is in a directory only they can read, which
 * is removed afterwards. Rejects if the editor cannot be started or fails; the text is unchanged then.
 */
export async function editExternally(text: string, command: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "agent-message-"));
  const file = join(directory, "message.md");
  try {
    await writeFile(file, text, { mode: 0o600 });
    await ignoringInterrupts(() => run(command, file));
    return (await readFile(file, "utf8")).replace(/\n$/, "");
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Through the shell, because `$EDITOR` may contain arguments: `code --wait`. Ctrl+C in the editor must not end the shell. */
function run(command: string, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = isWindows
      ? spawn(`${command} "${file}"`, { shell: true, stdio: "inherit" })
      : spawn("/bin/sh", ["-c", `trap : INT; ${command} "$1"`, "sh", file], { stdio: "inherit" });
    child.on("error", reject);
    child.on("close", (code, by) => {
      const how = by === null ? `ended with exit code ${code}` : `was killed by ${by}`;
      if (code === 0) resolve();
      else reject(new Error(`${command} ${how}. The text is unchanged.`));
    });
  });
}
