import { readFileSync, writeFileSync } from "node:fs";
import { memoryStore } from "@agent/core";
import { expect, test } from "vitest";
import * as agent from "../src/desk/agent.js";
import * as aiSdk from "../src/desk/aiSdk.js";
import * as openaiAgents from "../src/desk/openaiAgents.js";
import { ANSWER, FAULTS, type Fault, startFaultyServer } from "./faults.js";

const PAGE = new URL("../../../docs/comparison.md", import.meta.url);
const [BEGIN, END] = ["<!-- faults: begin -->", "<!-- faults: end -->"];
/** Longer than any of them waits before it asks again. */
const LIMIT_MS = 60_000;

type Shop = Parameters<typeof agent.createDesk>[2];
interface Desk {
  ask(id: string, question: string): Promise<boolean>;
  decide(id: string, decision: "allow"): Promise<boolean>;
}
type Open = (baseURL: string, shop: Shop, print: (text: string) => void) => Desk;

/** Each call opens the desk again on what was stored, as a restarted process would. */
const SIDES: Readonly<Record<string, () => Open>> = {
  "@agent": () => {
    const store = memoryStore();
    return (url, shop, print) => agent.createDesk(url, store, shop, print);
  },
  "AI SDK": () => {
    const store = new Map<string, string>();
    return (url, shop, print) => aiSdk.createDesk(url, store, shop, print);
  },
  "OpenAI Agents SDK": () => {
    const store = new Map<string, string>();
    return (url, shop, print) => openaiAgents.createDesk(url, store, shop, print);
  },
};

/** Asks for a refund, allows it in a new process, and tries a step that failed once more, as a user would. */
async function experience(open: Open, fault: Fault): Promise<string> {
  const server = await startFaultyServer(fault);
  let refunds = 0;
  let lookups = 0;
  let printed = "";
  const shop: Shop = {
    findOrder: async () => {
      if (fault.toolFails && ++lookups === 1) throw new Error("The database is away.");
      return "Order 7: one tea, 12 euros.";
    },
    refund: async () => {
      refunds++;
      return "Paid back 12 euros.";
    },
  };
  let failures = 0;
  const attempt = async (step: (desk: Desk) => Promise<boolean>): Promise<boolean> => {
    for (let tries = 0; ; tries++) {
      printed = "";
      try {
        return await step(
          open(server.baseURL, shop, (text) => {
            printed += text;
          }),
        );
      } catch (error) {
        failures++;
        if (fault.lasts) server.recover();
        if (tries === 1) throw error;
      }
    }
  };
  const work = async (): Promise<string> => {
    const waits = await attempt((desk) => desk.ask("customer", "Please pay order 7 back."));
    if (waits) await attempt((desk) => desk.decide("customer", "allow"));
    return outcome(printed);
  };
  const late = new Promise<string>((resolve) => setTimeout(resolve, LIMIT_MS, "hangs").unref());
  const end = await Promise.race([work().catch(() => "fails, also the second time"), late]);
  server.close();
  const notes = [
    ...(failures > 0 && !end.startsWith("fails") ? ["the user has to try again"] : []),
    ...(refunds === 1 ? [] : [refunds === 0 ? "nothing paid" : `paid ${refunds} times`]),
  ];
  return [end, ...notes].join("; ");
}

function outcome(printed: string): string {
  if (printed === ANSWER) return "answers";
  if (printed === "") return "says nothing, without an error";
  return printed.endsWith(ANSWER) ? "prints the beginning twice" : "half an answer, without an error";
}

test("docs/comparison.md says what each does with 17 faults", async () => {
  expect(FAULTS).toHaveLength(17);
  const rows = await Promise.all(
    FAULTS.map(async (fault) => {
      const cells = await Promise.all(Object.values(SIDES).map((side) => experience(side(), fault)));
      return `| ${[fault.name, ...cells].join(" | ")} |`;
    }),
  );
  const head = ["fault", ...Object.keys(SIDES)];
  const table = [`| ${head.join(" | ")} |`, `| ${head.map(() => "---").join(" | ")} |`, ...rows].join("\n");
  const page = readFileSync(PAGE, "utf8");
  const [before = "", rest = ""] = page.split(BEGIN);
  const [shown = "", after = ""] = rest.split(END);
  if (process.env.UPDATE_COMPARISON === "1") {
    writeFileSync(PAGE, `${before}${BEGIN}\n\n${table}\n\n${END}${after}`);
  } else expect(table).toBe(shown.trim());
  for (const row of rows) expect(row.split(" | ")[1]).not.toMatch(/twice|times|nothing paid|fails|hangs/);
}, 120_000);
