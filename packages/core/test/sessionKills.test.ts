import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { seededRandom } from "@agent/test-support";
import { afterAll, expect, test } from "vitest";
import { contentText } from "../src/conversation/content.js";
import { Conversation } from "../src/conversation/conversation.js";
import { findHistoryProblem } from "../src/conversation/history.js";
import { recordSession } from "../src/conversation/recorder.js";
import { loadSession } from "../src/conversation/session.js";

const CHILD = fileURLToPath(new URL("recordingChild.mjs", import.meta.url));
const LANES = 4;
const KILLS_PER_FILE = 10;
const FILES_PER_LANE = 5;
const MAX_LINES = 40;

const directory = mkdtempSync(join(tmpdir(), "agent-kills-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Runs the program until it has said `lines` lines, kills it, and returns everything it had said. */
async function runAndKill(path: string, name: string, lines: number): Promise<string[]> {
  const child = spawn(process.execPath, [CHILD, path, name], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  let killed = false;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
    if (killed || said.split("\n").length <= lines) return;
    killed = true;
    child.kill("SIGKILL");
  });
  const [, signal] = await once(child, "close");
  expect(signal).toBe("SIGKILL");
  // What the pipe holds of a last line may be cut.
  return said.split("\n").slice(0, -1);
}

async function textsOf(path: string): Promise<Set<string>> {
  if (!existsSync(path) || statSync(path).size === 0) return new Set();
  const { messages } = await loadSession(path);
  expect(findHistoryProblem(messages)).toBeUndefined();
  return new Set(messages.map(({ content }) => contentText(content ?? "")));
}

test(`everything that was complete survives ${LANES * FILES_PER_LANE * KILLS_PER_FILE} SIGKILLs`, async () => {
  const random = seededRandom(12);
  let kills = 0;
  const lane = async (number: number): Promise<void> => {
    for (let file = 0; file < FILES_PER_LANE; file++) {
      const path = join(directory, `${number}-${file}.jsonl`);
      const complete: string[] = [];
      for (let kill = 0; kill < KILLS_PER_FILE; kill++) {
        // Each program continues with the file of the one that was killed before.
        const said = await runAndKill(path, `run${kill}`, 1 + random.below(MAX_LINES));
        expect(said.filter((line) => line.startsWith("failed"))).toEqual([]);
        complete.push(...said.map((line) => line.slice(line.indexOf(" ") + 1)));
        const kept = await textsOf(path);
        expect(complete.filter((text) => !kept.has(text))).toEqual([]);
        kills++;
      }
      const conversation = new Conversation({ session: await loadSession(path) });
      const recorder = recordSession(conversation, path);
      conversation.append({ role: "user", content: "after all kills" });
      await recorder.close();
      expect(await textsOf(path)).toContain("after all kills");
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
  expect(kills).toBeGreaterThanOrEqual(200);
});
