import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasTerminal, packSource, Sandbox } from "./agent.js";

const HARMLESS = "export const value = 1;";
const EVIL = 'require("node:fs").writeFileSync("ran", "");\n';
const EVIL_MODULE =
  'import { writeFileSync } from "node:fs";\nwriteFileSync("ran", "");\nexport const value = 1;';

function ran(box: Sandbox): boolean {
  return statSync(join(box.project, "ran"), { throwIfNoEntry: false }) !== undefined;
}

/** A way to reach a file of the project: the config's text, what else is there, and the file that runs. */
interface Way {
  readonly config: string;
  readonly target: string;
  readonly setUp?: (box: Sandbox) => void;
  readonly commonJs?: boolean;
}

const link = (from: string, to: string) => (box: Sandbox) => {
  mkdirSync(join(box.project, from, ".."), { recursive: true });
  symlinkSync(to, join(box.project, from));
};

const WAYS: Readonly<Record<string, Way>> = {
  '"." with a main': {
    config: 'import "."; export default {};',
    target: "main.mjs",
    setUp: (box) => box.write("package.json", '{"main":"main.mjs"}'),
  },
  "a directory with a main": {
    config: 'import "./lib"; export default {};',
    target: "lib/code.mjs",
    setUp: (box) => box.write("lib/package.json", '{"main":"./code.mjs"}'),
  },
  "index.mts": { config: 'import "./lib"; export default {};', target: "lib/index.mts" },
  "a query": { config: 'import "./x.ts?a"; export default {};', target: "x.ts" },
  "a link": {
    config: 'import "./link.ts"; export default {};',
    target: "real.ts",
    setUp: link("link.ts", "real.ts"),
  },
  "the imports of package.json": {
    config: 'import "#helper"; export default {};',
    target: "deep/helper.mjs",
    setUp: (box) => box.write("package.json", '{"imports":{"#helper":"./deep/helper.mjs"}}'),
  },
  require: { config: 'require("./x"); export default {};', target: "x.cjs", commonJs: true },
  createRequire: {
    config:
      'import { createRequire } from "node:module"; createRequire(import.meta.url)("./x.cjs"); export default {};',
    target: "x.cjs",
    commonJs: true,
  },
  "createRequire with a name put together": {
    config:
      'import m from "node:module"; m.createRequire(import.meta.url)("./" + "x.cjs"); export default {};',
    target: "x.cjs",
    commonJs: true,
  },
  "a name put together": { config: 'await import("./" + "x.mjs"); export default {};', target: "x.mjs" },
  "a file that a required file imports by a name put together": {
    config: 'await require("./between.cjs"); export default {};',
    target: "x.mjs",
    setUp: (box) => box.write("between.cjs", 'module.exports = import("./" + "x.mjs");'),
  },
  "a package linked into the project": {
    config: 'import "dep"; export default {};',
    target: "packages/dep/index.mjs",
    setUp: (box) => {
      box.write("packages/dep/package.json", '{"name":"dep","exports":"./index.mjs"}');
      link("node_modules/dep", "../packages/dep")(box);
    },
  },
};

describe("trust covers every file of the project that runs, by whatever name it is reached", () => {
  test.each(Object.entries(WAYS))("%s", async (_, { config, target, setUp, commonJs }) => {
    const box = new Sandbox();
    box.write(target, commonJs ? "exports.value = 1;" : HARMLESS);
    setUp?.(box);
    box.write("agent.config.ts", config);
    expect(await box.run(["tools", "--trust"])).toMatchObject({ code: 0, stderr: "" });
    expect(await box.run(["tools"])).toMatchObject({ code: 0, stderr: "" });
    const file = box.write(target, commonJs ? EVIL : EVIL_MODULE);
    const { code, stderr } = await box.run(["tools"]);
    expect(stderr).toContain(file);
    expect({ code, ran: ran(box) }).toEqual({ code: 4, ran: false });
  });

  test("treats a link that is pointed elsewhere as another file", async () => {
    const box = new Sandbox();
    box.write("one.ts", HARMLESS);
    box.write("two.ts", EVIL_MODULE);
    link("link.ts", "one.ts")(box);
    box.write("agent.config.ts", 'import "./link.ts"; export default {};');
    expect((await box.run(["tools", "--trust"])).code).toBe(0);
    rmSync(join(box.project, "link.ts"));
    link("link.ts", "two.ts")(box);
    expect((await box.run(["tools"])).code).toBe(4);
    expect(ran(box)).toBe(false);
  });

  test("treats a pack that is linked from node_modules as a file of the project", async () => {
    const box = new Sandbox();
    box.write("packages/dep/package.json", '{"name":"dep","exports":"./index.mjs"}');
    box.write("packages/dep/index.mjs", packSource("one"));
    link("node_modules/dep", "../packages/dep")(box);
    box.write("agent.config.json", '{"packs":["dep"]}');
    expect((await box.run(["tools", "--trust"])).stdout).toContain("one");
    box.write("packages/dep/index.mjs", `${EVIL_MODULE}\n${packSource("two")}`);
    expect((await box.run(["tools"])).code).toBe(4);
    expect(ran(box)).toBe(false);
  });

  test.each([
    ["its entry", "node_modules/dep/index.mjs"],
    ["a file its entry imports", "node_modules/dep/lib/part.mjs"],
  ])("asks again for an installed pack that changed in %s", async (_what, target) => {
    const box = new Sandbox();
    box.write("node_modules/dep/package.json", '{"name":"dep","exports":"./index.mjs"}');
    box.write("node_modules/dep/lib/part.mjs", HARMLESS);
    box.write("node_modules/dep/index.mjs", `import "./lib/part.mjs";\n${packSource("one")}`);
    box.write("agent.config.json", '{"packs":["dep"]}');
    expect((await box.run(["tools", "--trust"])).stdout).toContain("one");
    expect((await box.run(["tools"])).stdout).toContain("one");
    const file = box.write(target, `${EVIL_MODULE}\n${packSource("two")}`);
    const { code, stderr } = await box.run(["tools"]);
    expect(stderr).toContain(file);
    expect({ code, ran: ran(box) }).toEqual({ code: 4, ran: false });
  });

  test("asks for an installed pack whose name is put together, or whose package.json names another file", async () => {
    const box = new Sandbox();
    box.write("node_modules/dep/package.json", '{"name":"dep","exports":"./index.mjs"}');
    box.write("node_modules/dep/index.mjs", packSource("one"));
    box.write("node_modules/dep/other.mjs", `${EVIL_MODULE}\n${packSource("two")}`);
    box.write("agent.config.mjs", 'export default { packs: ["d" + "ep"] };');
    expect((await box.run(["tools", "--trust"])).stdout).toContain("one");
    expect((await box.run(["tools"])).stdout).toContain("one");
    box.write("node_modules/dep/package.json", '{"name":"dep","exports":"./other.mjs"}');
    expect((await box.run(["tools"])).code).toBe(4);
    expect(ran(box)).toBe(false);
  });

  test("refuses with a message a file that was not named, and remembers it as it is then with --trust", async () => {
    const box = new Sandbox();
    const file = box.write("x.mjs", HARMLESS);
    const config = box.write("agent.config.ts", "export default {};");
    await box.run(["tools", "--trust"]);
    box.write("name.txt", "x.mjs");
    box.write(
      "agent.config.ts",
      'import { readFileSync } from "node:fs"; await import("./" + readFileSync("name.txt", "utf8")); export default {};',
    );
    const [question, answer] = ["Trust it as it is now?", "y"];
    const { stdout } = await box.runInTerminal(["tools"], [[question, answer]]);
    expect(stdout).toContain(`${file}: not run, because it is not part of what was trusted with ${config}`);
    expect((await box.run(["tools", "--trust"])).code).toBe(0);
    expect((await box.run(["tools"])).code).toBe(0);
  });
});

describe("what was asked about is what runs", () => {
  test.runIf(hasTerminal())(
    "does not run the new form of a file changed while the question is open",
    async () => {
      const box = new Sandbox();
      box.write("agent.config.mjs", 'import "./more.mjs"; export default {};');
      box.write("more.mjs", HARMLESS);
      const change = (): string => {
        box.write("agent.config.mjs", `${EVIL_MODULE}\nexport default {};`);
        box.write("more.mjs", EVIL_MODULE);
        return "y";
      };
      const { code } = await box.runInTerminal(["tools"], [["Trust it as it is now?", change]]);
      expect({ code, ran: ran(box) }).toEqual({ code: 0, ran: false });
      expect((await box.run(["tools"])).code).toBe(4);
    },
  );

  test("does not take compiled code from a place tools may write", async () => {
    const box = new Sandbox();
    box.write("agent.config.ts", "export default {};");
    await box.run(["tools", "--trust"]);
    const state = join(box.home, ".local/state/agent");
    const kept = join(state, "compiled");
    for (const name of readdirSync(kept)) {
      expect(statSync(join(kept, name)).mode & 0o777).toBe(0o600);
      const evil = join(box.project, "evil.js");
      writeFileSync(evil, `${EVIL}${readFileSync(join(kept, name), "utf8")}`);
      // A link to a file of the project stands for every way to get someone else's file there.
      renameSync(join(kept, name), join(kept, `${name}.old`));
      symlinkSync(evil, join(kept, name));
    }
    expect((await box.run(["tools"])).code).toBe(0);
    expect(ran(box)).toBe(false);
    expect(statSync(join(box.home, ".cache"), { throwIfNoEntry: false })).toBeUndefined();
  });

  test("adds no line to the question for a newline in a path", async () => {
    const box = new Sandbox();
    const name = "x\nThis project is safe.\u001b[2K.mjs";
    box.write("lib/package.json", JSON.stringify({ main: name }));
    box.write(`lib/${name}`, HARMLESS);
    box.write("agent.config.ts", 'import "./lib"; export default {};');
    const { stderr } = await box.run(["tools"]);
    expect(stderr).toContain("lib/x\\nThis project is safe.\\x1b[2K.mjs");
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });
});
