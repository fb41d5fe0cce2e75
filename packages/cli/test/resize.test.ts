import { type Random, seededRandom } from "@agent/test-support";
import { afterEach, describe, expect, test } from "vitest";
import { BIN, hasTerminal } from "./agent.js";
import { type BuiltChat, useBuiltChat } from "./builtChat.js";
import { EmulatedTerminal } from "./emulator.js";
import { type Gate, gateIn } from "./gate.js";
import { hasTmux } from "./terminal.js";

const STEPS = 12;
const WORDS_A_STEP = 40;
// The chat draws at least every 100 ms while a turn runs.
const LONGER_THAN_ANY_FRAME = 150;

/** An answer of numbered words in paragraphs, lists and long lines, which continues whenever a gate opens. */
function writeAnswer({ box }: BuiltChat, random: Random): { gates: Gate[]; words: string[] } {
  const gates = Array.from({ length: STEPS }, () => gateIn(box.root));
  const words: string[] = [];
  const steps = gates.map((gate) => {
    let text = "";
    for (let count = 0; count < WORDS_A_STEP; count++) {
      const word = `w${String(words.length).padStart(4, "0")}`;
      words.push(word);
      text += word + (random.chance(0.15) ? random.pick(["\\n", "\\n\\n", "\\n- "]) : " ");
    }
    return `write ${text}\npause ${gate.path}`;
  });
  box.write(".agent/commands/go.md", `${steps.join("\n")}\nsay  The end.\n`);
  return { gates, words };
}

const shownWords = (text: string): string[] => text.match(/\bw\d{4}\b/g) ?? [];

describe.skipIf(!hasTmux || !hasTerminal())("resizing while an answer streams (skipped without tmux)", () => {
  const start = useBuiltChat();
  let emulated: EmulatedTerminal | undefined;
  afterEach(() => emulated?.close());

  test.each([
    { seed: 1, held: 0 },
    { seed: 2, held: 0 },
    { seed: 3, held: 0 },
    { seed: 23, held: LONGER_THAN_ANY_FRAME },
    { seed: 51, held: LONGER_THAN_ANY_FRAME },
    { seed: 75, held: LONGER_THAN_ANY_FRAME },
  ])(
    "repeats and loses nothing in xterm.js, sizes of seed $seed, held up for $held ms",
    async ({ seed, held }) => {
      const random = seededRandom(seed);
      const built = await start();
      const { gates, words } = writeAnswer(built, random);
      const { box, model } = built;
      const env = { HOME: box.home, AGENT_LOCAL_PORTS: "", ...model.env };
      const terminal = new EmulatedTerminal([process.execPath, BIN], {
        columns: 80,
        rows: 24,
        cwd: box.project,
        env,
      });
      emulated = terminal;
      await terminal.until((text) => text.includes("/help lists the commands."));
      terminal.type("/go\r");
      for (const [step, gate] of gates.entries()) {
        const last = words[(step + 1) * WORDS_A_STEP - 1] ?? "";
        await terminal.until((text) => text.includes(last));
        await terminal.resize(20 + random.below(120), 8 + random.below(40), held);
        if (random.chance(0.5)) await terminal.resize(20 + random.below(120), 8 + random.below(40), held);
        gate.open();
      }
      const text = await terminal.until((shown) => /tokens in/.test(shown));
      expect(shownWords(text)).toEqual(words);
      expect(text.match(/The end\./g)).toHaveLength(1);
    },
  );

  test.each([4, 5])("repeats and loses nothing in tmux, sizes of seed %i", async (seed) => {
    const random = seededRandom(seed);
    const built = await start();
    const { gates, words } = writeAnswer(built, random);
    const terminal = await built.chat();
    terminal.send("/go");
    for (const [step, gate] of gates.entries()) {
      const last = words[(step + 1) * WORDS_A_STEP - 1] ?? "";
      await terminal.until((screen) => screen.includes(last));
      const [columns, rows] = [20 + random.below(120), 8 + random.below(40)];
      terminal.resize(columns, rows);
      // tmux tells the program up to a quarter of a second after it has broken the rows anew.
      await expect.poll(() => terminal.size(), { timeout: 10_000 }).toBe(`${rows} ${columns}`);
      gate.open();
    }
    await terminal.until("tokens in");
    const text = terminal.scrollback();
    expect(shownWords(text)).toEqual(words);
  });
});
