// Checks that no host contains the name of a built-in tool: hosts display and decide by a tool's descriptions of its
// calls. Prints every line that names a tool or one of its arguments and exits non-zero. `--count` prints their number,
// for scripts/figures.mjs.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const HOSTS = ["cli", "terminal", "acp", "web", "durable", "internal"];
const TOOLS = readdirSync(join(ROOT, "packages")).filter((name) => name.startsWith("tools-"));

/** Files that may name tools. */
const EXCEPTIONS = [
  // The assistant without a model calls tools by their names.
  "packages/cli/src/offline/",
  "packages/cli/src/commands/init.ts",
  // Texts for users: help, the schema of the config, errors with an example.
  "packages/cli/src/program.ts",
  "packages/cli/src/commands/eval.ts",
  "packages/cli/src/commands/options.ts",
  "packages/cli/src/commands/subcommands.ts",
  "packages/cli/src/settings/config/types.ts",
  "packages/cli/src/settings/config/schema.ts",
  "packages/cli/src/settings/config/checkConfig.ts",
  // A field of an editor's protocol.
  "packages/acp/src/terminal/commandTerminal.ts",
];
const COMMENT = /^\s*(?:\/\/|\/?\*)/;
/** Members of an array: a list of command-line arguments. */
const LIST = "(?!(?:length|slice|join|map|filter|at|includes|some|every|find|indexOf)\\b)";

const sources = (folder) =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", folder], {
    cwd: ROOT,
    encoding: "utf8",
  })
    .split("\n")
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file));

/** The names of the tools, as their packs declare them. */
const names = TOOLS.flatMap((pack) =>
  sources(`packages/${pack}/src`).flatMap((file) =>
    Array.from(
      readFileSync(join(ROOT, file), "utf8").matchAll(/\bname(?: =|:) "([a-z]+_[a-z_]+)"/g),
      ([, name]) => name,
    ),
  ),
);
if (names.length < 6) throw new Error(`Only these tools were found: ${names.join(", ")}`);

const FORBIDDEN = new RegExp(
  `\\b(?:${[...new Set(names)].join("|")})\\b|\\bold_text\\b|\\bexit_code\\b|\\bargs\\.${LIST}[a-z]\\w*|\\bargs\\[["']`,
);

const found = HOSTS.flatMap((host) =>
  sources(`packages/${host}/src`)
    .filter((file) => !EXCEPTIONS.some((place) => file.startsWith(place)))
    .flatMap((file) =>
      readFileSync(join(ROOT, file), "utf8")
        .split("\n")
        .flatMap((line, index) =>
          FORBIDDEN.test(line) && !COMMENT.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
        ),
    ),
);
if (process.argv.includes("--count")) console.log(found.length);
for (const line of found) console.error(line);
if (found.length > 0) {
  console.error(
    `\n${found.length} lines name a tool or its arguments. Use the description, the preview or the view of the call.`,
  );
  process.exitCode = 1;
}
