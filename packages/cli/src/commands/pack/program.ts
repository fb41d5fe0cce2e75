import { quote } from "@agent/core/toolkit";
import type { Command } from "commander";
import { CliError } from "../../process/errors.js";
import { print } from "../../process/output.js";
import { enterDirectory } from "../../settings/workingDirectory.js";
import type { CommandRun } from "../subcommands.js";
import type { AcceptedIsolation } from "./manage.js";

interface AddFlags {
  readonly user?: boolean;
  readonly yes?: boolean;
  readonly isolation?: AcceptedIsolation;
}

const LEVELS: readonly string[] = ["enforced", "limited", "none"];
const ISOLATION = [
  "--isolation <level>",
  "the least isolation to accept without asking: enforced, limited, or none to run it with your rights",
  (level: string): string => {
    if (LEVELS.includes(level)) return level;
    throw new CliError(`--isolation is ${quote(level)}. It must be one of: ${LEVELS.join(", ")}`);
  },
] as const;

/** `agent pack …`, for those who write packs. */
export function packCommands(pack: Command, { done }: CommandRun): void {
  pack.hook("preAction", (_, command) => enterDirectory(command.optsWithGlobals().cwd));
  pack
    .command("new")
    .description("write a new pack that builds, passes its tests and can be published as it is")
    .argument("<name>", "its npm name: agent-pack-weather, @me/agent-pack-weather")
    .option("--description <sentence>", "what it does, for package.json and README.md")
    .action(async (name: string, { description }: { description?: string }) => {
      const { packNew } = await import("./new.js");
      done(await packNew({ name, description, directory: process.cwd(), print }));
    });
  pack
    .command("check")
    .description(
      "check a pack and its package.json against what hosts and users rely on, in a sandbox where there is one",
    )
    .argument("[target]", "a pack's folder or file, or the name of an installed one", ".")
    .option("--json", "as JSON")
    .option("--trust", "run the pack's code as it is now without asking")
    .action(async (target: string, { json, trust }: { json?: boolean; trust?: boolean }) => {
      const { packCheck } = await import("./check.js");
      const { trustPolicy } = await import("../../settings/trust/trustQuestion.js");
      const policy = trustPolicy(trust === true);
      done(await packCheck({ target, directory: process.cwd(), json: json === true, trust: policy, print }));
    });
  pack
    .command("search")
    .description("find packs in the registry of your npm configuration, with the evidence about each")
    .argument("[words...]", "words to search for")
    .option("--index <file>", "search in this catalogue.json instead, without a network")
    .option("--json", "as JSON")
    .action(async (words: string[], { index, json = false }: { index?: string; json?: boolean }) => {
      const { packSearch } = await import("./search.js");
      done(await packSearch({ words, index, json, print }));
    });
  pack
    .command("catalogue")
    .description("write a page about the packs in a registry, with evidence for each")
    .argument("[words...]", "only packs that match these words")
    .option("--out <directory>", "where to write index.html and catalogue.json", "catalogue")
    .option("--check", "download each pack and run the kit on it: its code runs, so do this in a container")
    .option("--from <file>", "make the page from this catalogue.json, without a network")
    .action(async (words: string[], flags: { out: string; check?: boolean; from?: string }) => {
      const { packCatalogue } = await import("./catalogue.js");
      const { out, check = false, from } = flags;
      done(await packCatalogue({ words, out, from, check, print }));
    });
  pack
    .command("add")
    .description("install a pack, show what it adds, and select it in the config")
    .argument("<pack>", "its npm name, a folder, a .tgz file or the address of a git repository")
    .option("--user", "for you, in every project, instead of for this one")
    .option("--enable <tool>", "turn on a tool that starts disabled; '*' for all (repeatable)", collect)
    .option("-y, --yes", "ask nothing; tools that start disabled stay off unless --enable names them")
    .option(...ISOLATION)
    .action(async (specifier: string, flags: AddFlags & { enable?: string[] }) => {
      const { packAdd } = await import("./manage.js");
      const { user = false, yes = false, enable = [], isolation } = flags;
      done(await packAdd({ specifier, directory: process.cwd(), user, yes, enable, isolation, print }));
    });
  pack
    .command("update")
    .description("show what newer versions of packs change, and install them after approval")
    .argument("[packs...]", "npm names, with a version if you like; default: all packs that were added here")
    .option("--user", "packs for every project, instead of those of this one")
    .option("-y, --yes", "ask nothing")
    .option(...ISOLATION)
    .action(async (specifiers: string[], { user = false, yes = false, isolation }: AddFlags) => {
      const { packUpdate } = await import("./manage.js");
      done(await packUpdate({ specifiers, directory: process.cwd(), user, yes, isolation, print }));
    });
  pack
    .command("outdated")
    .description("list packs for which the registry has another version than the one you approved")
    .option("--user", "packs for every project, instead of those of this one")
    .option("--json", "as JSON")
    .action(async ({ user = false, json = false }: { user?: boolean; json?: boolean }) => {
      const { packOutdated } = await import("./manage.js");
      done(await packOutdated({ directory: process.cwd(), user, json, print }));
    });
  pack
    .command("remove")
    .description("remove a pack from the config and the lock file, and uninstall it")
    .argument("<pack>", "its npm name, or the path of its folder as the config has it")
    .option("--user", "for you, in every project, instead of for this one")
    .action(async (specifier: string, { user }: { user?: boolean }) => {
      const { packRemove } = await import("./manage.js");
      done(await packRemove({ specifier, directory: process.cwd(), user: user === true, print }));
    });
  pack
    .command("list")
    .description("list installed packs with their versions, tools and what those can do")
    .option("--json", "as JSON")
    .option("--trust", "load the packs of a project whose config is not trusted, too")
    .action(async ({ json, trust }: { json?: boolean; trust?: boolean }) => {
      const { packList } = await import("./list.js");
      const { isProjectTrusted } = await import("./trusted.js");
      const directory = process.cwd();
      const trusted = trust === true || (await isProjectTrusted(directory));
      done(await packList({ directory, trusted, everything: trust === true, json: json === true, print }));
    });
}

function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, ...value.split(",")];
}
