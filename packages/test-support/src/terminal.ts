import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const POLL_MS = 50;
// Only a guard against hanging, shorter than the one of the test itself: a loaded machine is slow, not wrong.
const GIVE_UP_MS = Number(process.env.TERMINAL_TEST_PATIENCE_MS ?? 100_000);

const STATUS_ROW = /\n? {2}(plan|ask|accept edits|auto)(?: \([a-z0-9+]+\)| · ).*$/;

export const hasTmux = spawnSync("tmux", ["-V"]).status === 0;

export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Inserts the quoted command into a line of shell. */
  readonly shell?: (command: string) => string;
}

let count = 0;

/** A program in a real terminal: tmux shows what a user would see. */
export class TestTerminal {
  readonly #socket = join(tmpdir(), `agent-test-${process.pid}-${count++}`);

  constructor(command: readonly string[], options: TerminalOptions = {}) {
    const { columns = 100, rows = 30, cwd = process.cwd(), env = {}, shell } = options;
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const program = ["env", "-u", "NO_COLOR", ...variables, ...command].map(quoteForShell).join(" ");
    // The shell behind it shows how the terminal was left; Ctrl-C must not end it.
    const script = `trap : INT; ${shell?.(program) ?? program}; echo "[status $?]"; exec sh`;
    const size = ["-x", String(columns), "-y", String(rows), "-c", cwd];
    const settings = [
      "set-option",
      "-g",
      "history-limit",
      "50000",
      ";",
      "set-option",
      "-g",
      "escape-time",
      "0",
    ];
    const start = ["new-session", "-d", ...size, `sh -c ${quoteForShell(script)}`];
    this.#tmux(
      "-f",
      "/dev/null",
      "start-server",
      ";",
      ...settings,
      ";",
      ...start,
      ";",
      ...this.#endWithTest(),
    );
  }

  /** Types text as it is; `keys` are names tmux knows: `Enter`, `C-c`, `M-b`, `Up`. */
  type(text: string): void {
    this.#tmux("send-keys", "-l", text);
  }

  press(...keys: string[]): void {
    this.#tmux("send-keys", ...keys);
  }

  send(text: string): void {
    this.type(text);
    this.press("Enter");
  }

  /** Pastes as a terminal does: bracketed, if the program asked for that. */
  paste(text: string): void {
    execFileSync("tmux", ["-S", this.#socket, "load-buffer", "-"], { input: text });
    this.#tmux("paste-buffer", "-p", "-r");
  }

  resize(columns: number, rows: number): void {
    this.#tmux("resize-window", "-x", String(columns), "-y", String(rows));
  }

  /** Rows and columns as reported to the program in the terminal. */
  size(): string {
    return execFileSync("stty", ["-F", this.format("#{pane_tty}"), "size"], { encoding: "utf8" }).trim();
  }

  /** What the screen shows, without trailing blank lines and the chat's status row. */
  screen(): string {
    return this.#tmux("capture-pane", "-p").trimEnd().replace(STATUS_ROW, "").trimEnd();
  }

  /** The chat's status row, below the line being written. */
  status(): string {
    return STATUS_ROW.exec(this.#tmux("capture-pane", "-p").trimEnd())?.[0].trim() ?? "";
  }

  /** The screen and everything that scrolled out of it; lines the terminal wrapped are joined again. */
  scrollback(): string {
    return this.#tmux("capture-pane", "-p", "-J", "-S", "-").trimEnd();
  }

  /** As `screen`, with the colour codes. */
  coloredScreen(): string {
    return this.#tmux("capture-pane", "-p", "-e").trimEnd();
  }

  /** Column and row of the cursor, from 0, and whether it is shown. */
  cursor(): { column: number; row: number; visible: boolean } {
    const answer = this.#tmux("display-message", "-p", "#{cursor_x} #{cursor_y} #{cursor_flag}");
    const [column = 0, row = 0, flag = 0] = answer.split(" ").map(Number);
    return { column, row, visible: flag === 1 };
  }

  /** Copies every byte the program writes from now on into a file. */
  record(file: string): void {
    this.#tmux("pipe-pane", "-O", `cat > ${file}`);
  }

  recorded(file: string): string {
    return readFileSync(file, "utf8");
  }

  format(format: string): string {
    return this.#tmux("display-message", "-p", format).trim();
  }

  /** The pid of the program, the child of the shell in the pane. */
  pid(): number {
    const shell = this.format("#{pane_pid}");
    return Number(execFileSync("ps", ["-o", "pid=", "--ppid", shell], { encoding: "utf8" }).trim());
  }

  /** Waits until the screen matches. The error shows the actual screen. */
  async until(wanted: string | RegExp | ((screen: string) => boolean)): Promise<string> {
    const fits = (screen: string): boolean => {
      if (typeof wanted === "function") return wanted(screen);
      return typeof wanted === "string" ? screen.includes(wanted) : wanted.test(screen);
    };
    const deadline = Date.now() + GIVE_UP_MS;
    for (;;) {
      const screen = this.screen();
      if (fits(screen)) return screen;
      if (Date.now() > deadline) throw new Error(`The terminal never showed ${wanted}. It shows:\n${screen}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  close(): void {
    spawnSync("tmux", ["-S", this.#socket, "kill-server"]);
    rmSync(this.#socket, { force: true });
  }

  /** The server exits with the process of the test, even if that is killed before it can close anything. */
  #endWithTest(): string[] {
    const socket = quoteForShell(this.#socket);
    const watch = `while kill -0 ${process.pid} 2>/dev/null && [ -e ${socket} ]; do sleep 1; done; tmux -S ${socket} kill-server; rm -f ${socket}`;
    return ["run-shell", "-b", watch];
  }

  #tmux(...words: string[]): string {
    return execFileSync("tmux", ["-S", this.#socket, ...words], { encoding: "utf8" });
  }
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
