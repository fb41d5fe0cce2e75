import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The path of a file or folder in the package's `templates`. It is above this file, in `src` and in `dist` alike. */
export function templatePath(name: string): string {
  for (let directory = dirname(fileURLToPath(import.meta.url)); ; directory = dirname(directory)) {
    const path = join(directory, "templates", name);
    if (existsSync(path)) return path;
    if (dirname(directory) === directory) {
      throw new Error(`templates/${name} is missing from this installation of @agent/cli.`);
    }
  }
}
