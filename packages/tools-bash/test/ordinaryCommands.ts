import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const OWN = fileURLToPath(new URL("ordinaryCommands.txt", import.meta.url));
// A larger collection, kept outside the repository: used as well where it is present.
const MORE = fileURLToPath(new URL("../../../../shared/data/tldr-commands.txt", import.meta.url));

/** Commands as people and models type them every day, one a line. */
export function ordinaryCommands(): string[] {
  return (
    [OWN, MORE]
      .filter((file) => existsSync(file))
      .flatMap((file) => readFileSync(file, "utf8").split("\n"))
      // Lines such as "<Ctrl c>" are keys to press.
      .filter((line) => /^[^<]/.test(line))
  );
}
