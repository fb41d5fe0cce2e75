import { PACK_API_VERSION } from "@agent/core";
import { describeValue } from "@agent/internal";
import type { Check } from "../subject.js";
import type { Finding } from "../types.js";

/** What a pack did when it was imported. */
export function importFinding(effect: string): Finding {
  return {
    expected: "importing the pack changes nothing",
    got: `it ${effect}`,
    hint: "Move the work into register(), or better into the tool's execute().",
  };
}

/** Checks of how a pack is loaded and registered. */
export const LOADING_CHECKS: readonly Check[] = [
  {
    id: "exports",
    title: "states its name and the pack API version it was built for",
    run({ inspection: { packName, packApiVersion } }) {
      const findings: Finding[] = [];
      if (typeof packName !== "string" || packName === "") {
        findings.push({
          expected: "a named export packName, the package's name",
          got: describeValue(packName),
          hint: 'export const packName = "your-package";',
        });
      }
      const served =
        Number.isInteger(packApiVersion) &&
        Number(packApiVersion) >= 1 &&
        Number(packApiVersion) <= PACK_API_VERSION;
      if (!served) {
        findings.push({
          expected: `a named export packApiVersion of ${PACK_API_VERSION}, or an older one`,
          got: describeValue(packApiVersion),
          hint: `export const packApiVersion = ${PACK_API_VERSION}; a host then knows which side to upgrade.`,
        });
      }
      return { findings };
    },
  },
  {
    id: "import",
    title: "does nothing when it is imported",
    run({ inspection, probe }) {
      const effects = [...inspection.importEffects];
      if (probe.output !== "") effects.push(`printed ${describeValue(probe.output)}`);
      for (const file of probe.newFiles) effects.push(`created the file ${describeValue(file)}`);
      return {
        findings: effects.map(importFinding),
        remarks: inspection.dependencyEffects.map((effect) => `a dependency does: ${effect}`),
      };
    },
  },
  {
    id: "register",
    title: "registers its tools and starts nothing",
    run({ inspection: { first, whole, registerEffects }, late: { failures }, tools }) {
      if (first.error !== undefined) {
        return {
          findings: [
            {
              expected: "register(registry, host) returns",
              got: first.error,
              hint: "Register synchronously, with defaults for all options; or pass `options` to the kit.",
            },
          ],
        };
      }
      const findings: Finding[] = registerEffects.map((effect) => ({
        expected: "register() only registers",
        got: `it ${effect}`,
        hint: "Start what a tool needs in its first execute(), and end it there.",
      }));
      if (tools.length + whole.services.length === 0 && failures.length === 0) {
        findings.push({
          expected: "at least one tool, or another service such as a skill, a command or hooks",
          got: "none",
          hint: "Return it from setup() of definePack().",
        });
      }
      return {
        findings,
        remarks: failures.map((failure) => `not checked, because it did not load: ${failure}`),
      };
    },
  },
  {
    id: "repeatable",
    title: "registers the same tools again on a fresh registry",
    run({ inspection: { first, second } }) {
      const shape = (tools: typeof first.tools) =>
        tools.map(({ name, enabled }) => `${name} (${enabled ? "on" : "off"})`).join(", ");
      const same = first.error === second.error && shape(first.tools) === shape(second.tools);
      return {
        findings: same
          ? []
          : [
              {
                expected: `the same as the first time: ${shape(first.tools)}`,
                got: second.error ?? (shape(second.tools) || "no tools"),
                hint: "Keep no state between calls of register(); create the tools inside it.",
              },
            ],
      };
    },
  },
  {
    id: "hosts",
    title: "works in a host that provides everything and in one that provides nothing",
    run({ inspection: { first, whole, serviceProblems } }) {
      const findings: Finding[] = serviceProblems.map((problem) => ({
        expected: "prompt text of at most 2,000 tokens, and skills with a file and a unique name",
        got: problem,
        hint: "Return { title, text } or undefined from prompt(), quickly; use what the host provides only if it is there. Name the file of a skill by its absolute path, from import.meta.url, and publish it with the package.",
      }));
      if (whole.error !== undefined && first.error === undefined) {
        findings.push({
          expected: "register() succeeds where the host provides a model, a state and directories",
          got: whole.error,
          hint: "Feature-detect what the host provides: `host.state?.get()`.",
        });
      }
      return { findings };
    },
  },
  {
    id: "options",
    title: "refuses an option it does not know",
    run({ inspection: { first, unknownOptionRefusal } }) {
      if (first.error !== undefined) return { findings: [], notes: ["the pack does not register"] };
      return {
        findings:
          unknownOptionRefusal === undefined
            ? [
                {
                  expected: "register() throws for a misspelt option",
                  got: "it was ignored",
                  hint: "Use definePack(), which refuses unknown options.",
                },
              ]
            : [],
      };
    },
  },
];
