import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, onTestFinished, test } from "vitest";
import type { RunEngine } from "../engine/engine.js";
import { engineConformance } from "../testing/index.js";
import { createFileEngine } from "./fileEngine.js";

function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), "agent-durable-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const cases = engineConformance.map((one) => [one.name, one] as const);

describe("the engine on files", () => {
  test.each(cases)("%s", async (_name, { run }) => {
    const directory = temporaryDirectory();
    const engines: RunEngine[] = [];
    onTestFinished(() => Promise.all(engines.map((engine) => engine.close())).then(() => undefined));
    const open = async (): Promise<RunEngine> => {
      const engine = createFileEngine(directory);
      engines.push(engine);
      return engine;
    };
    await run({ open });
  });
});
