import { MODES, type Mode } from "@agent/core/host";
import { quote } from "@agent/core/toolkit";
import { didYouMean, escapeToLine } from "@agent/internal";
import { MODE_HELP, MODE_NAMES, type SlashCommand } from "@agent/terminal/host";
import type { AssembledAgent } from "../../assembly/assembleAgent.js";
import { shownRule } from "../../permissions/shownRule.js";

type Asked = Pick<AssembledAgent, "permissions">;

/** Commands about what may run without asking. */
export function permissionCommands(assembled: Asked): Readonly<Record<string, SlashCommand>> {
  return {
    "/permissions": {
      usage: "/permissions [revoke N]",
      help: "show the mode, rules and saved approvals; or revoke one",
      words: (_context, before) => (before.length === 1 ? ["revoke"] : []),
      run: (argument) => listOrRevoke(argument, assembled),
    },
    "/mode": {
      usage: "/mode [NAME]",
      help: "show or change how much runs without a question; Shift+Tab switches",
      words: () => MODES,
      run: (name, { updateStatus }) => {
        const lines = switchMode(name, assembled);
        updateStatus();
        return lines;
      },
    },
  };
}

async function listOrRevoke(argument: string, { permissions: current }: Asked): Promise<readonly string[]> {
  const { grants, rules, mode, confirm } = current;
  const revoked = /^revoke\s+(\d+)$/.exec(argument)?.[1];
  if (revoked !== undefined) {
    const grant = grants[Number(revoked) - 1];
    if (!grant) return [`There is no approval ${revoked}. /permissions lists them.`];
    await current.revoke(grant);
    return [`${shownRule(grant.rule)} asks again from now on.`];
  }
  if (argument !== "") return ["Use /permissions, or /permissions revoke N with a number it shows."];
  const configured = (["deny", "ask", "allow"] as const).flatMap((list) =>
    rules[list].map((rule) => `  ${list.padEnd(6)}${shownRule(rule)}`),
  );
  return [
    `${describeMode(mode)} Shift+Tab or /mode switches.`,
    ...(confirm.size === 0 ? [] : [`Asks first in every mode: ${[...confirm].map(escapeToLine).join(", ")}`]),
    ...(configured.length === 0 ? [] : ["Rules of the configuration", ...configured]),
    ...(grants.length === 0
      ? ["There are no permanent approvals."]
      : [
          "Allowed by you",
          ...grants.map(
            ({ rule, scope }, at) =>
              `  ${at + 1}  ${shownRule(rule)}  ${scope === "session" ? "in this session" : "in this project"}`,
          ),
          "/permissions revoke N revokes one.",
        ]),
  ];
}

function switchMode(name: string, { permissions: current }: Asked): string[] {
  if (name === "") {
    return MODES.map((mode) => `${mode === current.mode ? "❯" : " "} ${mode.padEnd(6)} ${MODE_HELP[mode]}`);
  }
  const mode = MODES.find((one): one is Mode => one === name || MODE_NAMES[one] === name);
  if (!mode) return [`There is no mode ${quote(name)}. ${didYouMean(name, MODES)}`];
  current.mode = mode;
  return [describeMode(mode)];
}

function describeMode(mode: Mode): string {
  return `Mode: ${MODE_NAMES[mode]} – ${MODE_HELP[mode]}.`;
}
