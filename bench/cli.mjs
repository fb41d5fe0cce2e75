// What starting the command costs, against starting Node itself. Side by side, interleaved, medians.
// Build first: pnpm exec turbo run build. Then: node bench/cli.mjs [rounds]
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROUNDS = Number(process.argv[2] ?? 25);
const BIN = fileURLToPath(new URL("../packages/cli/dist/bin.js", import.meta.url));

const root = mkdtempSync(join(tmpdir(), "agent-bench-"));
const project = join(root, "project");
mkdirSync(join(project, ".git"), { recursive: true });
writeFileSync(
  join(project, "agent.config.ts"),
  `import { defineConfig } from "@agent/cli/config";
const tools: string[] = ["run_bash"];
export default defineConfig({ enable: tools });
`,
);
const env = { PATH: process.env.PATH, HOME: root, AGENT_LOCAL_PORTS: "" };

function run(args) {
  const started = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: project, env });
  const elapsed = performance.now() - started;
  if (status !== 0) throw new Error(`${args.join(" ")} failed: ${stderr}`);
  return elapsed;
}

const CASES = [
  { name: "node -e 0", args: ["-e", "0"] },
  { name: "agent --version", args: [BIN, "--version"], reach: 1.4 },
  { name: "agent --help", args: [BIN, "--help"] },
  { name: "agent tools (TypeScript config)", args: [BIN, "tools", "--trust"], reach: 6 },
  { name: 'agent "list files" (offline)', args: [BIN, "--no-config", "--no-session", "list files"] },
];

try {
  // Once unmeasured, so that every case finds its files in the cache of the system and of the config loader.
  for (const { args } of CASES) run(args);
  const times = CASES.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, { args }] of CASES.entries()) times[index].push(run(args));
  }
  const medians = times.map((list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)]);
  console.log(`${ROUNDS} rounds, Node ${process.version}`);
  for (const [index, { name, reach }] of CASES.entries()) {
    const ratio = medians[index] / medians[0];
    const verdict =
      reach === undefined
        ? ""
        : ratio <= reach
          ? `  (reach ${reach} ×: met)`
          : `  (reach ${reach} ×: MISSED)`;
    console.log(
      `${name.padEnd(34)} ${medians[index].toFixed(0).padStart(5)} ms  ${ratio.toFixed(2)} ×${verdict}`,
    );
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}
