import { TOOL_CAPABILITIES, type ToolCapability } from "@agent/core";
import { compileSchema, errorMessage, escapeInvisible } from "@agent/core/toolkit";
import { describeValue } from "@agent/internal";
import type { SeenTool } from "../probe/messages.js";
import { type Check, type CheckVerdict, functionOf, parametersOf, type Subject } from "../subject.js";
import type { Finding } from "../types.js";

const VALID_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
/** Capabilities that must be off until the user opts in. */
const RISKY: readonly ToolCapability[] = ["destroy", "execute", "network"];

type Problem = Omit<Finding, "tool">;

/** A check of each tool individually. */
function eachTool(find: (tool: SeenTool) => readonly Problem[]): Check["run"] {
  return ({ tools }: Subject): CheckVerdict => ({
    findings: tools.flatMap((tool) => find(tool).map((problem) => ({ tool: tool.name, ...problem }))),
  });
}

/** Checks of the declarations of a pack's tools. */
export const DECLARATION_CHECKS: readonly Check[] = [
  {
    id: "names",
    title: "gives each tool its own valid name",
    run({ tools }) {
      const findings: Finding[] = [];
      for (const [index, { name }] of tools.entries()) {
        if (!VALID_NAME.test(name)) {
          findings.push({
            tool: name,
            expected: '1 to 64 letters, digits, "_" or "-"',
            got: describeValue(name),
            hint: "Model APIs refuse other names; rename the tool.",
          });
        }
        if (tools.findIndex((other) => other.name === name) < index) {
          findings.push({
            tool: name,
            expected: "each name once",
            got: "it is registered twice",
            hint: "Rename one of them; a prefix of your pack avoids clashes with other packs, too.",
          });
        }
      }
      return { findings };
    },
  },
  {
    id: "schema-name",
    title: "names each schema like its tool",
    run: eachTool((tool) => {
      const { name } = functionOf(tool);
      if (name === tool.name || tool.schema === undefined) return [];
      return [
        {
          expected: `schema.function.name is ${describeValue(tool.name)}`,
          got: describeValue(name),
          hint: "Create the tool with defineTool(), which has one name.",
        },
      ];
    }),
  },
  {
    id: "schemas",
    title: "describes arguments in valid JSON Schema",
    run: eachTool((tool) => {
      const problem = schemaProblem(tool);
      return problem === undefined
        ? []
        : [
            {
              expected: "a schema of a function, the same at each call",
              got: problem,
              hint: "Create the tool with defineTool() and JSON Schema types (object, number, …).",
            },
          ];
    }),
  },
  {
    id: "descriptions",
    title: "describes each tool and argument in visible words",
    run: eachTool((tool) => {
      const texts: [string, unknown][] = [
        ["the tool", functionOf(tool).description],
        ...Object.entries((parametersOf(tool)?.properties ?? {}) as Record<string, unknown>).map(
          ([name, schema]): [string, unknown] => [
            `"${name}"`,
            (schema as { description?: unknown } | null)?.description,
          ],
        ),
      ];
      return texts.flatMap(([what, text]) => descriptionProblem(what, text));
    }),
  },
  {
    id: "capabilities",
    title: "declares the capabilities of each tool",
    run: eachTool(({ capabilities, enabled }) => {
      const known = `some of ${TOOL_CAPABILITIES.join(", ")}`;
      const hint = 'Declare it in defineTool(): capabilities: ["read"]; [] means it touches nothing.';
      if (!Array.isArray(capabilities)) {
        return [{ expected: `capabilities, ${known}`, got: describeValue(capabilities), hint }];
      }
      const unknown = capabilities.filter((one) => !TOOL_CAPABILITIES.includes(one));
      if (unknown.length > 0) return [{ expected: known, got: unknown.map(String).join(", "), hint }];
      if (enabled || capabilities.length > 0) return [];
      return [
        {
          expected: "a tool that starts disabled declares the capability that is the reason",
          got: "no capability",
          hint,
        },
      ];
    }),
  },
  {
    id: "risky-off",
    title: "leaves tools that destroy, execute or reach the network off until the user opts in",
    run: eachTool(({ capabilities, enabled }) => {
      const risky = Array.isArray(capabilities) ? RISKY.filter((one) => capabilities.includes(one)) : [];
      if (!enabled || risky.length === 0) return [];
      return [
        {
          expected: "a tool with these capabilities starts disabled",
          got: `it is on, with ${risky.join(", ")}`,
          hint: "Return off(tool) from setup().",
        },
      ];
    }),
  },
];

function schemaProblem(tool: SeenTool): string | undefined {
  if (tool.schemaProblem !== undefined) return tool.schemaProblem;
  if ((tool.schema as { type?: unknown } | null)?.type !== "function") return 'its type is not "function"';
  const { parameters } = functionOf(tool);
  if (parameters === undefined) return undefined;
  const schema = parametersOf(tool);
  if (schema?.type !== "object")
    return `parameters.type is ${describeValue(schema?.type)} instead of "object"`;
  try {
    compileSchema(schema, "parameters");
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

function descriptionProblem(what: string, text: unknown): Problem[] {
  const hint = "The model chooses by the description alone: say what it does and when to use it.";
  if (typeof text !== "string" || text.trim() === "") {
    return [{ expected: `a description of ${what}`, got: describeValue(text), hint }];
  }
  if (escapeInvisible(text) === text) return [];
  return [
    {
      expected: `a description of ${what} that a user can read in full`,
      got: escapeInvisible(text),
      hint: "Remove control and invisible characters: they hide instructions from the user.",
    },
  ];
}
