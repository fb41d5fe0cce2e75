import { countOf, describeValue, shorten } from "@agent/internal";
import { exampleCall, hostileCalls, ignoresUnknownArguments, refusedCalls } from "../badArguments.js";
import { canFindLeftovers } from "../leftovers.js";
import type { CallReport, SeenTool } from "../probe/messages.js";
import type { ProbeResult } from "../runProbe.js";
import { type Check, type CheckVerdict, parametersOf, type Subject } from "../subject.js";
import type { Finding, SampleCall } from "../types.js";

const DEFAULT_MAX_OUTPUT_BYTES = 1024 * 1024;

type Problem = Omit<Finding, "tool">;

/** A check of each tool that can be called; it lists the tools that could not be checked. */
function eachCallable(
  examine: (subject: Subject, tool: SeenTool) => Promise<readonly Problem[] | string>,
): Check["run"] {
  return async (subject): Promise<CheckVerdict> => {
    const findings: Finding[] = [];
    const notes: string[] = [];
    for (const tool of subject.tools) {
      const said =
        tool.refusal === undefined
          ? await examine(subject, tool)
          : "the registry refuses the tool, see the other checks";
      if (typeof said === "string") notes.push(`${tool.name}: ${said}`);
      else findings.push(...said.map((problem) => ({ tool: tool.name, ...problem })));
    }
    return { findings, notes };
  };
}

/** A check that calls each tool with all its samples, and examines the results. */
function eachSampled(
  examine: (probe: ProbeResult, subject: Subject, tool: SeenTool) => readonly Problem[] | string,
): Check["run"] {
  return eachCallable(async (subject, tool) => {
    const samples = subject.samples(tool);
    if (samples.length === 0) return "no sample";
    return examine(await subject.call(tool, samples), subject, tool);
  });
}

/** The samples of a tool, or a generated call in a sandbox, where it does no harm. */
function labelCalls(subject: Subject, tool: SeenTool): readonly SampleCall[] {
  const samples = subject.samples(tool);
  if (samples.length > 0 || subject.options.sandbox === undefined) return samples;
  const example = exampleCall(parametersOf(tool) ?? {});
  return example === undefined ? [] : [example];
}

/** Checks of a pack's tools when they run. */
export const CALL_CHECKS: readonly Check[] = [
  {
    id: "bad-arguments",
    title: "answers bad arguments with an error and not with a crash",
    run: eachCallable(async (subject, tool) => {
      const schema = parametersOf(tool) ?? { type: "object", additionalProperties: false };
      const problems: Problem[] = [];
      if (ignoresUnknownArguments(schema)) {
        problems.push({
          expected: "a misspelt argument is refused",
          got: "the schema accepts any name",
          hint: "Set additionalProperties: false; in zod, use z.strictObject().",
        });
      }
      const [sample] = subject.samples(tool);
      const refused = refusedCalls(schema);
      const calls = sample ? [...refused, ...hostileCalls(schema, sample)] : refused;
      if (calls.length === 0) return problems;
      const probe = await subject.call(tool, calls);
      const reports = probe.answer?.calls;
      if (!reports) return [...problems, crashProblem(probe)];
      return [
        ...problems,
        ...reports.flatMap((report, index) =>
          badCallProblem(report, calls[index] ?? {}, index < refused.length),
        ),
      ];
    }),
  },
  {
    id: "output",
    title: "answers with a string of bounded size",
    run: eachSampled((probe, { options, probe: inspection }) => {
      if (!probe.answer?.calls) return [crashProblem(probe)];
      const { maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = options;
      return [
        ...probe.answer.calls.flatMap((report) => outputProblem(report, maxOutputBytes)),
        // A pack that prints on import prints here again; another check reports that.
        ...(inspection.output === "" ? printProblem(probe) : []),
      ];
    }),
  },
  {
    id: "describes",
    title: "describes and previews a call in time, as data, without changing it",
    run: eachSampled((probe) => {
      if (!probe.answer?.calls) return [crashProblem(probe)];
      return probe.answer.calls.flatMap(({ descriptionProblem }) =>
        descriptionProblem === undefined
          ? []
          : [
              {
                expected:
                  "a description of what the call acts on within two seconds, and a preview within five",
                got: descriptionProblem,
                hint: descriptionProblem.startsWith("previewCall")
                  ? "Return JSON, undefined if there is nothing to show, or a refusal for a call that would fail. If the sample needs files, create them in the kit's option setup."
                  : "Look at names and attributes only; return JSON with absolute paths. Without a description nothing is granted.",
              },
            ],
      );
    }),
  },
  {
    id: "labels",
    title: "does nothing that its capabilities do not say",
    run: eachCallable(async (subject, tool) => {
      const calls = labelCalls(subject, tool);
      if (calls.length === 0) return "no sample";
      const probe = await subject.call(tool, calls);
      if (!probe.answer?.calls) return [crashProblem(probe)];
      if (!subject.inspection.mayCall && probe.answer.calls.some(({ hasNested }) => hasNested)) {
        return [
          {
            expected: "a pack that does not declare it calls no other tool",
            got: "it called a tool or started an agent",
            hint: "Declare it, or users cannot isolate the pack: definePack({ needs: { calls: true }, … }).",
          },
        ];
      }
      // A tool without capabilities may do anything, and so may a command.
      const { capabilities } = tool;
      const labels: readonly unknown[] = Array.isArray(capabilities) ? capabilities : [];
      if (labels.length === 0 || labels.includes("network") || labels.includes("execute")) return [];
      const connections = probe.answer.calls.flatMap((report) => report.connections ?? []);
      if (connections.length === 0) return [];
      return [
        {
          expected: `a tool with the capabilities ${labels.join(", ")} does not connect`,
          got: `it connected to ${[...new Set(connections)].join(", ")}`,
          hint: 'Add "network" to its capabilities, and leave it off by default: off(tool).',
        },
      ];
    }),
  },
  {
    id: "abort",
    title: "stops soon after an abort",
    run: eachCallable(async (subject, tool) => {
      const slow = subject.slowSample(tool);
      const call = slow ?? subject.samples(tool)[0];
      if (!call) return "no sample";
      const probe = await subject.abort(tool, call, slow !== undefined);
      const [report] = probe.answer?.calls ?? [];
      if (!report) return [crashProblem(probe)];
      if (slow && report.outcome !== "aborted") {
        return `its slow sample ended by itself with ${report.outcome}: ${report.text.slice(0, 200)}`;
      }
      const left = slow ? leftBehind(probe) : [];
      if (report.settled && left.length === 0) return [];
      return [
        {
          expected: "execute() settles and leaves nothing behind after call.signal aborts",
          got: report.settled ? left.join("; ") : "it was still running seconds later",
          hint: "Pass call.signal on (fetch, spawn, timers), or listen for its abort event.",
        },
      ];
    }),
  },
  {
    id: "leftovers",
    title: "leaves no handle behind, after dispose() no process, and the working directory as it was",
    run: eachSampled((probe) => {
      if (!probe.answer) return [crashProblem(probe)];
      const others = [...moveProblem(probe.answer.movedTo), ...disposeProblem(probe.answer.disposeError)];
      const left = leftBehind(probe);
      if (left.length === 0 && others.length > 0) return others;
      if (left.length === 0) {
        return canFindLeftovers ? [] : "handles are fine; processes cannot be found on this system";
      }
      return [
        {
          expected: "the process can end after the call",
          got: left.join("; "),
          hint: "Close what the call opened; unref() what is meant to stay, and end it in dispose(), which setup() returns.",
        },
        ...others,
      ];
    }),
  },
];

function badCallProblem(report: CallReport, args: object, refusedBySchema: boolean): Problem[] {
  const call = describeCall(args);
  if (!report.settled) {
    return [
      { expected: `an answer to ${call}`, got: "none in time", hint: "Check arguments before you use them." },
    ];
  }
  if (refusedBySchema && report.outcome !== "error") {
    return [
      { expected: `an error for ${call}`, got: report.outcome, hint: "Say in the schema what is allowed." },
    ];
  }
  if (report.returned === "string" || report.returned === "an error" || refusedBySchema) return [];
  return [
    {
      expected: `a string or an Error for ${call}`,
      got: report.returned,
      hint: "Throw an Error that names the argument.",
    },
  ];
}

function outputProblem(report: CallReport, maxBytes: number): Problem[] {
  if (report.refusal !== undefined) {
    return [
      {
        expected: "the tool can be called",
        got: report.refusal,
        hint: "Register the same tools each time; what they are loaded from has to be there while the kit runs.",
      },
    ];
  }
  if (report.nestedProblem !== undefined) {
    return [
      {
        expected: "a call makes a bounded number of calls itself",
        got: `it ${report.nestedProblem}`,
        hint: "Stop when a nested call fails, and limit how many there are.",
      },
    ];
  }
  if (report.reportProblem !== undefined) {
    return [
      {
        expected: "call.report() gets a view that hosts can draw, and a value of at most 64 KB",
        got: report.reportProblem,
        hint: 'Return JSON in the form of ResultView: each line of a diff begins with " ", "+" or "-" and has no newline.',
      },
    ];
  }
  if (report.outcome === "error" && report.returned !== "string") {
    const threw = report.returned === "an error";
    return [
      {
        expected: "the sample returns a string",
        got: threw || !report.settled ? report.text : `execute() gave ${report.returned}`,
        hint: threw
          ? "Give the kit a sample that works, and create the files it needs in the option setup."
          : "Return text; JSON.stringify() what is structured.",
      },
    ];
  }
  if (report.bytes <= maxBytes) return [];
  return [
    {
      expected: `at most ${countOf(maxBytes, "byte")}`,
      got: countOf(report.bytes, "byte"),
      hint: "Cut with truncateMiddle() from @agent/core/toolkit and say how to get the rest.",
    },
  ];
}

/** A tool must not print: standard output belongs to the host's terminal or its JSON. */
function printProblem({ output }: ProbeResult): Problem[] {
  if (output === "") return [];
  return [
    {
      expected: "a tool prints nothing",
      got: `it printed ${describeValue(output)}`,
      hint: "Return what the model should read; pass live output to call.onOutput().",
    },
  ];
}

function moveProblem(movedTo: string | undefined): Problem[] {
  if (movedTo === undefined) return [];
  return [
    {
      expected: "the working directory is the same after the call",
      got: describeValue(movedTo),
      hint: "Never call process.chdir(): all tools share it. Resolve paths, and pass cwd to what you start.",
    },
  ];
}

function disposeProblem(error: string | undefined): Problem[] {
  if (error === undefined) return [];
  return [
    {
      expected: "dispose() ends what the pack started",
      got: error,
      hint: "A host calls it once, perhaps before any tool was called: let it resolve soon and never throw.",
    },
  ];
}

function crashProblem({ crash, output, timedOut }: ProbeResult): Problem {
  const lines = output.trim().split("\n");
  // Match at the start of a line: Node first prints the source line, which may contain "Error" too.
  const said = lines.find((line) => /^(\[?\w*Error\b|Uncaught)/.test(line)) ?? lines.at(-1) ?? "";
  return {
    expected: "the process keeps running, whatever the arguments of a call",
    got: `${crash ?? "no answer"}${said === "" ? "" : `: ${said}`}`,
    hint: timedOut
      ? "Let the event loop run: no deadline can end a loop that never awaits anything."
      : "Never call process.exit(), and handle errors of every timer, stream and promise you start.",
  };
}

function leftBehind({ answer, leftovers }: ProbeResult): string[] {
  return [
    ...(answer?.resources ?? []).map((name) => `a ${name} keeps the process alive`),
    ...leftovers.map((command) => `the process ${describeValue(command)} was still running`),
  ];
}

function describeCall(args: object): string {
  return shorten(JSON.stringify(args), 120);
}
