import { createHash } from "node:crypto";
import { readdirSync, rmSync, statSync } from "node:fs";
import { access, copyFile, link, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryName } from "@agent/internal";
import { ensurePrivateDirectory } from "@agent/terminal/host";

const PRIVATE_FILE = 0o600;

/** Contents of files by hash, in a directory that only its owner can read. */
export class BlobStore {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  /** Stores a content and resolves to its name. Rejects if it cannot be written. */
  async add(content: Uint8Array): Promise<string> {
    const name = createHash("sha256").update(content).digest("hex");
    const path = join(this.directory, name);
    const isKept = await access(path).then(
      () => true,
      () => false,
    );
    if (isKept) return name;
    ensurePrivateDirectory(this.directory);
    const temporary = join(this.directory, temporaryName());
    await writeFile(temporary, content, { mode: PRIVATE_FILE, flag: "wx" });
    await rename(temporary, path);
    return name;
  }

  async read(name: string): Promise<Buffer> {
    return await readFile(join(this.directory, name));
  }

  /** Shares these contents with another store. They never change, so both can have the same file. */
  async copyTo(other: BlobStore, names: ReadonlySet<string>): Promise<void> {
    if (names.size > 0) ensurePrivateDirectory(other.directory);
    for (const name of names) {
      const [from, to] = [join(this.directory, name), join(other.directory, name)];
      await link(from, to).catch(() => copyFile(from, to));
    }
  }

  /** Removes every content that is not in `used`. Returns the size of the rest in bytes. */
  prune(used: ReadonlySet<string>): number {
    let bytes = 0;
    for (const name of listNames(this.directory)) {
      const path = join(this.directory, name);
      if (used.has(name)) bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      else rmSync(path, { force: true });
    }
    return bytes;
  }
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
