import { cp, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Commands } from "./commands.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const ROOT_FILES = ["package.json", "pnpm-workspace.yaml", "pnpm-lock.yaml", ".changeset"];

/** A copy of this workspace, built as it is, whose versions can be raised without touching the original. */
export class WorkspaceCopy {
  readonly path: string;
  readonly #commands: Commands;

  private constructor(path: string, commands: Commands) {
    this.path = path;
    this.#commands = commands;
  }

  static async create(path: string, commands: Commands): Promise<WorkspaceCopy> {
    await mkdir(path, { recursive: true });
    for (const name of ROOT_FILES) await cp(join(ROOT, name), join(path, name), { recursive: true });
    for (const folder of ["packages", "examples"]) {
      await cp(join(ROOT, folder), join(path, folder), {
        recursive: true,
        // The links to sibling packages are relative: kept as they are, they lead to the copies.
        verbatimSymlinks: true,
        filter: (source) => !/\/(\.turbo|\.vite|coverage)$/.test(source),
      });
    }
    await symlink(join(ROOT, "node_modules"), join(path, "node_modules"));
    const copy = new WorkspaceCopy(path, commands);
    // The release tools ask git what has changed.
    await copy.#git("init", "--quiet", "--initial-branch=main");
    await copy.commit("start");
    return copy;
  }

  async commit(message: string): Promise<void> {
    await writeFile(join(this.path, ".gitignore"), "node_modules\n");
    await this.#git("add", "--all");
    await this.#git("commit", "--quiet", "--message", message);
  }

  /** Applies the changesets and returns the version of each public package. */
  async applyChangesets(): Promise<Record<string, string>> {
    await this.#changeset("version");
    await this.commit("version");
    return await this.versions();
  }

  async addChangeset(name: string, bump: "patch" | "minor" | "major"): Promise<void> {
    await writeFile(join(this.path, ".changeset", "one.md"), `---\n"${name}": ${bump}\n---\n\nA change.\n`);
  }

  async publish(): Promise<string> {
    return await this.#changeset("publish", "--no-git-tag");
  }

  /** Publishes one package alone, where the others would only take time. */
  async publishOne(folder: string): Promise<void> {
    await this.#commands.must(join(this.path, "packages", folder), "pnpm", "publish", "--no-git-checks");
  }

  async versions(): Promise<Record<string, string>> {
    const manifests = await Promise.all(
      (await readdir(join(this.path, "packages"))).map((name) => this.#manifest(name)),
    );
    return Object.fromEntries(
      manifests.filter((manifest) => !manifest.private).map((manifest) => [manifest.name, manifest.version]),
    );
  }

  async #manifest(folder: string): Promise<{ name: string; version: string; private?: boolean }> {
    return JSON.parse(await readFile(join(this.path, "packages", folder, "package.json"), "utf8"));
  }

  #changeset(...args: readonly string[]): Promise<string> {
    return this.#commands.must(this.path, join(this.path, "node_modules/.bin/changeset"), ...args);
  }

  #git(...args: readonly string[]): Promise<string> {
    return this.#commands.must(this.path, "git", ...args);
  }
}
