import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Conversation,
  createToolRegistry,
  type HookCall,
  type ToolCapability,
  type ToolPack,
} from "@agent/core";
import { expect, onTestFinished, test, vi } from "vitest";
import { type LoadedPack, loadPacks, registerPacks } from "./load.js";
import { watchPacks } from "./watchPacks.js";

const SOURCE = `import { text } from "./text.mjs";
export const packName = "mine";
export function register(registry) {
  registry.register({
    name: "say",
    capabilities: ["read"],
    getSchema: () => ({ type: "function", function: { name: "say", description: "d", parameters: { type: "object", properties: {} } } }),
    execute: async () => text,
  });
}
`;

test("loads a changed pack again before the next message, and keeps the tools of one that is broken", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "agent-watch-")));
  /** Resolves when the change was noticed. */
  const write = async (name: string, content: string): Promise<void> => {
    const watcher = watch(folder);
    const noticed = once(watcher, "change");
    writeFileSync(join(folder, name), content);
    await noticed;
    watcher.close();
  };
  writeFileSync(join(folder, "text.mjs"), 'export const text = "one";');
  writeFileSync(join(folder, "index.mjs"), SOURCE);
  const file = join(folder, "index.mjs");
  const module = (await import(/* @vite-ignore */ file)) as ToolPack;
  const pack: LoadedPack = { name: folder, file, options: undefined, own: false, module, problem: undefined };
  const registry = createToolRegistry(new Conversation(), []);
  const register = (one: LoadedPack): void => registerPacks(registry, [one], { context: new Conversation() });
  register(pack);
  const notices: string[] = [];
  // The test runner's own import ignores the query of a URL.
  const native: string = "data:text/javascript,export const load = (url) => import(url);";
  const { load }: { load: (url: string) => Promise<ToolPack> } = await import(native);
  const confirm = vi.fn(async () => true);
  const watched = watchPacks([pack], registry, register, (message) => notices.push(message), confirm, load);
  const message = { content: "hi", context: undefined, signal: new AbortController().signal };
  /** Messages come until the change has reached the watcher. */
  const nextNotice = async (): Promise<string | undefined> => {
    notices.length = 0;
    while (notices.length === 0) {
      await watched.hooks.onMessage?.(message);
      await new Promise((done) => setImmediate(done));
    }
    return notices[0];
  };
  try {
    expect(await registry.execute("say", {})).toBe("one");
    await write("text.mjs", 'export const text = "two";');
    expect(await nextNotice()).toContain("was loaded again");
    expect(await registry.execute("say", {})).toBe("two");
    await write("index.mjs", "this is not code");
    expect(await nextNotice()).toContain("cannot be loaded");
    expect(await registry.execute("say", {})).toBe("two");
    await write("index.mjs", SOURCE.replaceAll('"say"', '"tell"'));
    expect(await nextNotice()).toContain("was loaded again");
    expect(registry.getToolNames().filter((name) => ["say", "tell"].includes(name))).toEqual(["tell"]);
    const ran = async (capability: ToolCapability): Promise<void> =>
      watched.hooks.beforeRun?.({ capabilities: [capability] } as unknown as HookCall);
    await ran("read");
    await write("text.mjs", 'export const text = "three";');
    expect(await nextNotice()).toContain("was loaded again");
    expect(confirm).not.toHaveBeenCalled();
    // From here on the change may be the model's, whose code would run with the rights of the user.
    await ran("write");
    confirm.mockResolvedValueOnce(false);
    await write("text.mjs", 'export const text = "four";');
    expect(await nextNotice()).toContain("was not loaded again");
    expect(await registry.execute("tell", {})).toBe("three");
    await write("text.mjs", 'export const text = "five";');
    expect(await nextNotice()).toContain("was loaded again");
    expect(await registry.execute("tell", {})).toBe("five");
    expect(confirm).toHaveBeenCalledTimes(2);
  } finally {
    watched.close();
    rmSync(folder, { recursive: true });
  }
});

test("never loads an isolated pack into this process, and limits a changed pack to what was approved", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "agent-watch-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [one, other] = ["isolated", "locked"].map((name) => join(folder, name)) as [string, string];
  for (const path of [one, other]) mkdirSync(path);
  const module: ToolPack = { packName: "mine", register: () => undefined };
  const base = { options: undefined, own: false, module, problem: undefined };
  const guard = vi.fn((given: ToolPack) => given);
  const packs: LoadedPack[] = [
    { ...base, name: one, file: join(one, "index.mjs"), isolated: true },
    { ...base, name: other, file: join(other, "index.mjs"), guard },
  ];
  const notices: string[] = [];
  const load = vi.fn(async () => module);
  const registry = createToolRegistry(new Conversation(), []);
  const watched = watchPacks(
    ...([
      packs,
      registry,
      () => undefined,
      (text: string) => notices.push(text),
      async () => true,
      load,
    ] as const),
  );
  onTestFinished(() => watched.close());
  for (const path of [one, other]) writeFileSync(join(path, "index.mjs"), "");
  const message = { content: "hi", context: undefined, signal: new AbortController().signal };
  while (new Set(notices).size < 2) {
    await watched.hooks.onMessage?.(message);
    await new Promise((done) => setImmediate(done));
  }
  expect(notices).toContainEqual(expect.stringContaining("has changed. It runs in its own process"));
  expect(notices).toContainEqual(expect.stringContaining(`${JSON.stringify(other)} was loaded again`));
  expect(load).not.toHaveBeenCalledWith(expect.stringContaining("isolated"));
  expect(guard).toHaveBeenCalled();
});

test("keeps the limits of a pack that could not be loaded", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "agent-watch-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [one, other] = ["isolated.mjs", "locked.mjs"].map((name) => join(folder, name)) as [string, string];
  writeFileSync(join(folder, "package.json"), "{");
  for (const file of [one, other]) writeFileSync(file, "this is not code");
  const locked = { version: "1.0.0", files: "", tools: {}, secrets: [], services: [] };
  const isolation = {
    required: "limited",
    grants: {},
    manifest: { secrets: [], tools: {}, commands: [], mentions: [], skills: [], agents: [] },
  };
  const lock = { v: 1, packs: { [one]: { ...locked, isolation }, [other]: locked } };
  writeFileSync(join(folder, "packs.lock.json"), JSON.stringify(lock));
  const source = { file: join(folder, "agent.config.json"), text: "" };
  const packs = [one, other].map((name) => ({ name, options: undefined, origin: "a test", source }));
  const [first, second] = await loadPacks(packs, undefined);
  expect([first?.problem, second?.problem]).toEqual([expect.any(String), expect.any(String)]);
  expect(first?.isolated).toBe(true);
  expect(second?.guard).toBeTypeOf("function");
});
