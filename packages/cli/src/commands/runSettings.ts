import { relative } from "node:path";
import { escapeToLine, isInside } from "@agent/internal";
import type { Aside } from "@agent/terminal/host";
import type { InstructionUse } from "../instructions/instructions.js";
import { askOneKey, askYesNo, atOnce, canAsk } from "../process/ask.js";
import { note } from "../process/output.js";
import { configDirectory } from "../process/paths.js";
import type { SettingsFlags } from "../settings/flags.js";
import { type LoadedSettings, loadSettings } from "../settings/loadSettings.js";

const MOST_NAMED = 10;
/** The pack that starts the sub-agents which a project defines. */
const AGENTS = "@agent/tools-agents";

/** Loads the settings. If only a local model server could answer, asks the user about servers without a decision. */
export async function loadRunSettings(flags: SettingsFlags, aside: Aside = atOnce): Promise<LoadedSettings> {
  const loaded = await loadSettings(flags, aside);
  const { env } = loaded.keys;
  if (!canAsk() || loaded.settings.provider === "offline") return loaded;
  const { missingProvider, selectByName } = await import("../assembly/provider/select.js");
  const options = { keys: loaded.keys, projectFile: loaded.projectFile };
  const missing = missingProvider(loaded.settings, options);
  if (missing !== undefined) {
    const { offerProvider } = await import("../assembly/provider/offer.js");
    await aside(() => offerProvider(missing));
  } else if (loaded.settings.provider === undefined && !selectByName(loaded.settings, env)) {
    const { askAboutLocalServer } = await import("../assembly/provider/localServers.js");
    await askAboutLocalServer(env, (question) => aside(() => askYesNo(question)));
  }
  return loaded;
}

/**
 * Which instructions the model gets. The user is asked about the project's until they answer yes or no; if the user
 * cannot be asked, they are used and a note names them.
 */
export async function mayUseInstructions(
  { instructions }: { readonly instructions?: boolean },
  { settings }: LoadedSettings,
  quiet: boolean,
  aside: Aside = atOnce,
): Promise<InstructionUse> {
  if (instructions === false) return "none";
  const { findInstructions, InstructionConsent, instructionSize } = await import(
    "../instructions/instructions.js"
  );
  const { projectAgents, projectCommands } = await import("../instructions/ownCommands.js");
  const cwd = process.cwd();
  const consent = new InstructionConsent(cwd);
  const found = findInstructions(cwd).filter(({ file }) => !isInside(configDirectory(), file));
  const names = [
    ...found.map((one) => `${nameFrom(cwd, one.file)} (${instructionSize(one)})`),
    ...projectCommands(cwd).flatMap(({ kind, file }) => (kind === "skill" ? [nameFrom(cwd, file)] : [])),
    ...(settings.packs.some(({ name }) => name === AGENTS)
      ? projectAgents(cwd).map((file) => nameFrom(cwd, file))
      : []),
    ...(consent.leftOut === undefined ? [] : [nameFrom(cwd, consent.leftOut)]),
  ];
  if (names.length === 0) return "all";
  if (consent.answer !== undefined) return consent.answer ? "all" : "own";
  const shown = names.slice(0, MOST_NAMED).join(", ");
  const all = names.length > MOST_NAMED ? `${shown} and ${names.length - MOST_NAMED} more` : shown;
  if (!canAsk()) {
    if (!quiet) note(`agent: follows ${all}; --no-instructions leaves that out`);
    return "all";
  }
  const question = `This project has instructions for agents: ${all}.\nThey are text for the model, not code.\nUse them?`;
  const use = await aside(async () => {
    const answer = await askOneKey(question);
    const when = answer === "no" ? "" : " this time";
    if (answer !== "yes") note(`Not used${when}. To use them, type /instructions on in a chat.`);
    return answer;
  });
  // Enter decides nothing permanently: the next start asks again.
  if (use !== "later") await consent.remember(use === "yes");
  return use === "yes" ? "all" : "own";
}

function nameFrom(cwd: string, file: string): string {
  return escapeToLine(relative(cwd, file));
}
