import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import type { CreateTerminalRequest } from "@agentclientprotocol/sdk";

interface Terminal {
  readonly child: ChildProcess;
  readonly request: CreateTerminalRequest;
  readonly exit: Promise<{ exitCode: number | null; signal: string | null }>;
  output: string;
  isReleased: boolean;
}

/** The files and terminals of an editor: real processes, and real files with unsaved buffers above them. */
export class EditorTerminals {
  readonly all: Terminal[] = [];
  readonly files: string[] = [];

  read(path: string, buffers: ReadonlyMap<string, string>): string {
    this.files.push(`read ${path}`);
    return buffers.get(path) ?? readFileSync(path, "utf8");
  }

  write(path: string, text: string, buffers: Map<string, string>): void {
    this.files.push(`write ${path}`);
    buffers.set(path, text);
    writeFileSync(path, text);
  }

  create(request: CreateTerminalRequest): { terminalId: string } {
    const child = spawn(request.command, request.args ?? [], {
      cwd: request.cwd ?? undefined,
      stdio: ["ignore", "pipe", "pipe"],
      // A process group, as editors do, so that ending the terminal ends all its processes.
      detached: true,
    });
    const exit = new Promise<{ exitCode: number | null; signal: string | null }>((resolve) => {
      child.once("close", (exitCode, signal) => resolve({ exitCode, signal }));
    });
    const terminal: Terminal = { child, request, exit, output: "", isReleased: false };
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        terminal.output += chunk.toString();
      });
    }
    this.all.push(terminal);
    return { terminalId: `terminal-${this.all.length}` };
  }

  waitForExit(id: string): Terminal["exit"] {
    return this.#find(id).exit;
  }

  release(id: string): object {
    const terminal = this.#find(id);
    terminal.isReleased = true;
    kill(terminal);
    return {};
  }

  killAll(): void {
    for (const terminal of this.all) kill(terminal);
  }

  #find(id: string): Terminal {
    const terminal = this.all[Number(id.replace("terminal-", "")) - 1];
    if (!terminal) throw new Error(`there is no terminal ${id}`);
    return terminal;
  }
}

function kill({ child }: Terminal): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // The process has ended.
  }
}
