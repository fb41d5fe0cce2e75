import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process";
import headless from "@xterm/headless";

const GIVE_UP_MS = Number(process.env.TERMINAL_TEST_PATIENCE_MS ?? 100_000);
const SCROLLBACK = 50_000;

/**
 * A program in the terminal emulator of editors and browsers, which breaks rows anew when its width changes. `script`
 * opens the terminal. A window changes its size and the terminal's, which signals, at one moment: nothing that the
 * program writes between the two is read.
 */
export class EmulatedTerminal {
  readonly #emulator: InstanceType<typeof headless.Terminal>;
  readonly #child: ChildProcessWithoutNullStreams;
  #device: string | undefined;
  #seen = "";

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
    const words = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    const line = `tty; stty cols ${columns} rows ${rows}; exec ${words}`;
    this.#child = spawn("script", ["-qfec", line, "/dev/null"], {
      cwd,
      env: { PATH: process.env.PATH ?? "", TERM: "xterm-256color", ...env },
    });
    this.#child.stdout.on("data", (chunk: Buffer) => {
      if (this.#device === undefined) {
        this.#seen += chunk;
        this.#device = /^(\/dev\/\S+)\r?\n/.exec(this.#seen)?.[1];
      }
      this.#emulator.write(chunk);
    });
  }

  type(text: string): void {
    this.#child.stdin.write(text);
  }

  resize(columns: number, rows: number): void {
    if (this.#device === undefined) throw new Error("The terminal has not said its name yet.");
    execFileSync("stty", ["-F", this.#device, "cols", String(columns), "rows", String(rows)]);
    this.#emulator.resize(columns, rows);
  }

  /** Everything in the scrollback and on the screen; rows that the emulator broke are joined again. */
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
    const deadline = Date.now() + GIVE_UP_MS;
    for (;;) {
      const text = this.text();
      if (fits(text)) return text;
      if (Date.now() > deadline) throw new Error(`The emulator never showed it. It shows:\n${text}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  close(): void {
    this.#child.kill("SIGKILL");
    this.#emulator.dispose();
  }
}
