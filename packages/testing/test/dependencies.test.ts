import { mkdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { checkPack } from "../src/checkPack.js";

// Popular libraries, most of which change something when they are imported.
const LIBRARIES = [
  "@modelcontextprotocol/sdk/client/index.js",
  "axios",
  "chalk",
  "cheerio",
  "commander",
  "dotenv",
  "execa",
  "fast-glob",
  "graceful-fs",
  "lodash",
  "openai",
  "pg",
  "pino",
  "puppeteer-core",
  "undici",
  "ws",
  "yaml",
  "zod",
];

// A directory inside this package, so that its dev dependencies can be imported.
const directory = new URL("../.turbo/dependencies/", import.meta.url);
afterAll(() => rm(directory, { recursive: true, force: true }));

async function writePack(name: string, first: string): Promise<URL> {
  await mkdir(directory, { recursive: true });
  const file = new URL(`${name.replaceAll(/\W/g, "-")}.mjs`, directory);
  await writeFile(
    fileURLToPath(file),
    `${first}
     export const packName = "uses-a-library";
     export const packApiVersion = 1;
     export function register(registry, host) {
       const unknown = Object.keys(host?.options ?? {})[0];
       if (unknown !== undefined) throw new Error("unknown option " + unknown);
       registry.register({
         name: "ok",
         capabilities: ["read"],
         getSchema: () => ({ type: "function", function: { name: "ok", description: "Says ok.", parameters: { type: "object", properties: {}, additionalProperties: false } } }),
         execute: async () => String(typeof library),
       });
     }`,
  );
  return file;
}

test.each(LIBRARIES)("does not report a pack for what %s does when it is imported", async (library) => {
  const report = await checkPack(await writePack(library, `import * as library from "${library}";`));
  const failed = report.checks.filter(({ status }) => status === "failed");
  expect(failed).toEqual([]);
});

test("notes side effects of a dependency, and fails for those of the pack itself", async () => {
  const own = 'import * as library from "graceful-fs"; globalThis.mine = 1;';
  const report = await checkPack(await writePack("mine", own));
  const check = report.checks.find(({ id }) => id === "import");
  expect(check?.findings.map(({ got }) => got)).toEqual(["it added globalThis.mine"]);
  expect(check?.remarks?.join("\n")).toMatch(/a dependency does: graceful-fs (added|replaced)/);
});
