import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import headless from "@xterm/headless";

const GIVE_UP_MS = Number(process.env.TERMINAL_TEST_PATIENCE_MS ?? 100_000);
const SCROLLBACK = 50_000;

// Unused by any program: the emulator passes it to the handler below and shows nothing.
const MARK = 7797;

/** A program in the terminal emulator of editors and browsers, which rewraps rows when its width changes. */
export class EmulatedTerminal {
  readonly #emulator: InstanceType<typeof headless.Terminal>;
  readonly #child: ChildProcessWithoutNullStreams;
  #program: { readonly device: string; readonly pid: number } | undefined;
  #seen = "";
  #marks = 0;

  constructor(
    command: readonly string[],
    options: { columns: number; rows: number; cwd: string; env: Readonly<Record<string, string>> },
  ) {
    const { columns, rows, cwd, env } = options;
    this.#emulator = new headless.Terminal({
      cols: columns,
      rows,
      scrollback: SCROLLBACK,
      allowProposedApi: true,
    });
    this.#emulator.parser.registerOscHandler(MARK, () => {
      this.#marks += 1;
      return true;
    });
    // `script` opens the terminal. It stops with its child, so the program is the child of a shell between the two.
    const program = `echo $(tty) $$; stty cols ${columns} rows ${rows}; exec ${command.map(quoted).join(" ")}`;
    const line = `sh -c ${quoted(program)}; exit $?`;
    this.#child = spawn("script", ["-qfec", line, "/dev/null"], {
      cwd,
      env: { PATH: process.env.PATH ?? "", TERM: "xterm-256color", ...env },
    });
    this.#child.stdout.on("data", (chunk: Buffer) => {
      if (!this.#program) {
        this.#seen += chunk;
        const [, device, pid] = /^(\/dev\/\S+) (\d+)\r?\n/.exec(this.#seen) ?? [];
        if (device && pid) this.#program = { device, pid: Number(pid) };
      }
      this.#emulator.write(chunk);
    });
  }

  type(text: string): void {
    this.#child.stdin.write(text);
  }

  /**
   * Resizes the window and its terminal at the same moment, as a window does: the program is stopped while its output
   * is read, and sees the signal when it continues. If it is held for `held` ms more, it also finds timers that are due
   * by then, as on a busy machine.
   */
  async resize(columns: number, rows: number, held = 0): Promise<void> {
    if (!this.#program) throw new Error("The terminal has not said its name yet.");
    const { device, pid } = this.#program;
    // Asleep, so that it is not held in the middle of a frame.
    await until(() => processState(pid) === "S", "The program never waits.");
    process.kill(pid, "SIGSTOP");
    await until(() => processState(pid) === "T", "The program does not stop.");
    const mark = this.#marks + 1;
    writeFileSync(device, `\x1b]${MARK};\x07`);
    await until(() => this.#marks === mark, "The emulator does not read on.");
    if (held > 0) await new Promise((resolve) => setTimeout(resolve, held));
    execFileSync("stty", ["-F", device, "cols", String(columns), "rows", String(rows)]);
    this.#emulator.resize(columns, rows);
    process.kill(pid, "SIGCONT");
  }

  /** Everything in the scrollback and on the screen; rows that the emulator wrapped are joined again. */
  text(): string {
    const { active } = this.#emulator.buffer;
    let text = "";
    for (let row = 0; row < active.length; row++) {
      const line = active.getLine(row);
      if (line) text += `${line.isWrapped || row === 0 ? "" : "\n"}${line.translateToString(true)}`;
    }
    return text.trimEnd();
  }

  async until(fits: (text: string) => boolean): Promise<string> {
    await until(
      () => fits(this.text()),
      () => `The emulator never showed it. It shows:\n${this.text()}`,
    );
    return this.text();
  }

  close(): void {
    this.#child.kill("SIGKILL");
    this.#emulator.dispose();
  }
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

async function until(holds: () => boolean, problem: string | (() => string)): Promise<void> {
  const deadline = Date.now() + GIVE_UP_MS;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(typeof problem === "string" ? problem : problem());
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** One letter, as `ps` shows it: `S` sleeps, `R` runs, `T` is stopped. */
function processState(pid: number): string | undefined {
  return / (\w) [^)]*$/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];
}
