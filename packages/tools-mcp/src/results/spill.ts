import { tmpdir } from "node:os";
import { join } from "node:path";
import { processTag } from "@agent/core/toolkit";
import { nodeFs } from "../nodeModules.js";

const MAX_TOTAL_BYTES = 512 * 1024 * 1024;

/**
 * Files for output that does not fit into a result, in a directory only the user can read, removed with the
 * registration.
 */
export class SpillDirectory {
  #path: string | undefined;
  #count = 0;
  #bytes = 0;
  readonly #onExit = (): void => this.dispose();

  /** Writes a file and returns its path; `undefined` if there is no space for it. */
  write(name: string, content: string | Uint8Array): string | undefined {
    this.#bytes += content.length;
    if (this.#bytes > MAX_TOTAL_BYTES) return undefined;
    try {
      const path = join(this.#directory(), `${++this.#count}-${name.replace(/[^\w.-]/g, "_").slice(0, 60)}`);
      nodeFs.writeFileSync(path, content, { mode: 0o600, flag: "wx" });
      return path;
    } catch {
      return undefined; // a full disk costs the rest of the result, not the call
    }
  }

  dispose(): void {
    process.off("exit", this.#onExit);
    if (this.#path !== undefined) nodeFs.rmSync(this.#path, { recursive: true, force: true });
    this.#path = undefined;
  }

  #directory(): string {
    if (this.#path === undefined) {
      this.#path = nodeFs.mkdtempSync(join(tmpdir(), `agent-mcp-${processTag()}-`));
      process.on("exit", this.#onExit);
    }
    nodeFs.mkdirSync(this.#path, { recursive: true, mode: 0o700 });
    return this.#path;
  }
}
