import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where the bundlers and runtimes are installed: another place for other versions. */
export function toolchainsDirectory() {
  const versions = readFileSync(new URL("package.json", import.meta.url));
  const version = createHash("sha256").update(versions).digest("hex").slice(0, 12);
  return join(tmpdir(), `agent-toolchains-${process.getuid?.() ?? "user"}-${version}`);
}
