import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { describeAs, describeWrites } from "../../test/describedCall.js";
import {
  findInstructions,
  formatInstructions,
  InstructionConsent,
  instructionHooks,
  instructionSize,
} from "./instructions.js";
import { describeSkills, expandOwnCommand, projectCommands, readOwnCommands } from "./ownCommands.js";

const folder = mkdtempSync(join(tmpdir(), "agent-instructions-"));
const repo = join(folder, "repo");
const write = (path: string, text: string): void => {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
};

beforeAll(() => {
  vi.stubEnv("AGENT_CONFIG_DIR", join(folder, "config"));
  mkdirSync(join(repo, ".git"), { recursive: true });
  write("AGENTS.md", "above the repository");
  write("config/AGENTS.md", "mine");
  write("repo/AGENTS.md", "root");
  write("repo/CLAUDE.md", "not this one");
  write("repo/pkg/CLAUDE.md", "package");
  write("repo/pkg/deep/GEMINI.md", "deep");
  write("repo/pkg/deep/file.ts", "x");
  write("repo/other/AGENTS.md", "x".repeat(50_000));
  write("repo/leak/file", "x");
  write("secret", "a key");
  symlinkSync(join(folder, "secret"), join(repo, "leak/AGENTS.md"));
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

describe("instructions for agents", () => {
  test("come from the user, then from the root of the repository down; AGENTS.md before the others", () => {
    expect(findInstructions(join(repo, "pkg")).map(({ text }) => text)).toEqual(["mine", "root", "package"]);
    expect(findInstructions(join(repo, "pkg"), "own").map(({ text }) => text)).toEqual(["mine"]);
    expect(findInstructions(join(repo, "pkg"), "none")).toEqual([]);
  });

  test("are cut visibly, and a link out of the repository is not followed", () => {
    const cut = findInstructions(join(repo, "other")).at(-1);
    expect(cut).toMatchObject({ bytes: 50_000, isCut: true });
    expect(cut && formatInstructions([cut], repo)).toContain("[cut at 32768 bytes");
    expect(findInstructions(join(repo, "leak")).map(({ text }) => text)).toEqual(["mine", "root"]);
  });

  test("are cut if they are too large together, and each is still named with the part that is used", () => {
    const nested = ["wide", "wide/a", "wide/a/b", "wide/a/b/c"];
    for (const path of nested) write(`repo/${path}/AGENTS.md`, "é".repeat(16 * 1024));
    const found = findInstructions(join(repo, "wide/a/b/c"));
    expect(found.map(instructionSize)).toEqual([
      ...["4 bytes", "4 bytes", "32 KB", "32 KB"],
      ...["the first 32 KB of 32 KB", "the first 0 bytes of 32 KB"],
    ]);
    expect(found.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)).toBeLessThanOrEqual(96 * 1024);
  });

  test("are not read to the end if they are very long, and a pipe is not waited for", () => {
    mkdirSync(join(repo, "huge"));
    writeFileSync(join(repo, "huge", "AGENTS.md"), "start ");
    // Larger than a text can be.
    truncateSync(join(repo, "huge", "AGENTS.md"), 600 * 1024 * 1024);
    const cut = findInstructions(join(repo, "huge")).at(-1);
    expect(cut).toMatchObject({ bytes: 600 * 1024 * 1024, isCut: true });
    mkdirSync(join(repo, "pipe"));
    execFileSync("mkfifo", [join(repo, "pipe", "AGENTS.md")]);
    expect(findInstructions(join(repo, "pipe"))).toHaveLength(2);
  });

  test("are added from a subdirectory when a tool first touches it, once", async () => {
    const found: string[] = [];
    const hooks = instructionHooks(repo, findInstructions(repo), {
      isAgreed: () => true,
      onFound: ({ text }) => found.push(text),
      onLeftOut: () => expect.unreachable(),
    });
    const call = { describe: describeWrites(["pkg/deep/file.ts"], repo) } as never;
    const result = {} as never;
    expect(await hooks.afterCall?.(call, result)).toEqual({
      append: expect.stringMatching(
        /<instructions file="pkg\/CLAUDE.md">\npackage\n<\/instructions>\n<instructions file="pkg\/deep\/GEMINI.md">\ndeep/,
      ),
    });
    expect(await hooks.afterCall?.(call, result)).toBeUndefined();
    expect(
      await hooks.afterCall?.({ describe: describeWrites(["/etc/passwd"]) } as never, result),
    ).toBeUndefined();
    expect(await hooks.afterCall?.({ describe: describeAs() } as never, result)).toBeUndefined();
    expect(found).toEqual(["package", "deep"]);
  });

  test("are asked about once for a project", async () => {
    const state = join(folder, "state");
    const consent = new InstructionConsent(repo, state);
    expect(consent.answer).toBeUndefined();
    await consent.remember(false);
    expect(new InstructionConsent(join(repo, "pkg"), state).answer).toBe(false);
    expect(new InstructionConsent(folder, state).answer).toBeUndefined();
  });
});

describe("imports of instructions", () => {
  const textsIn = (place: string) =>
    findInstructions(join(folder, place))
      .map(({ text }) => text)
      .filter((text) => text !== "mine");

  test("are read relative to the file that names them, each once, also in circles", () => {
    write("importing/.git/HEAD", "");
    write("importing/CLAUDE.md", "See @docs/style.md, @docs/style.md and @./docs/test.md.\n");
    write("importing/docs/style.md", "style @more/deep.txt @../CLAUDE.md");
    write("importing/docs/more/deep.txt", "deep");
    write("importing/docs/test.md", "tests");
    expect(textsIn("importing")).toEqual([
      "See @docs/style.md, @docs/style.md and @./docs/test.md.\n",
      "style @more/deep.txt @../CLAUDE.md",
      "tests",
      "deep",
    ]);
  });

  test("leave out code, other files, and whatever is outside, in dependencies or reached by a link out", () => {
    write("careful/.git/HEAD", "");
    const names = [
      "@.env",
      "@package.json",
      "@../outside.md",
      "@~/mine.md",
      "@/etc/hosts.md",
      "@link.md",
      "@missing.md",
    ];
    const code = "`@in-code.md`\n```\n@in-code.md\n```";
    write(
      "careful/AGENTS.md",
      `${names.join(" ")} @node_modules/x/README.md mail@in-code.md @agent/core ${code}`,
    );
    for (const name of ["careful/.env", "careful/package.json", "outside.md", "careful/in-code.md"])
      write(name, "secret");
    write("careful/node_modules/x/README.md", "of a dependency");
    symlinkSync(join(folder, "outside.md"), join(folder, "careful/link.md"));
    expect(textsIn("careful")).toHaveLength(1);
  });

  test("are bounded in number and depth", () => {
    write("many/.git/HEAD", "");
    write("many/AGENTS.md", Array.from({ length: 100 }, (_, index) => `@f${index}.md`).join("\n"));
    for (let index = 0; index < 100; index++) write(`many/f${index}.md`, "x");
    expect(textsIn("many")).toHaveLength(21);
    write("chain/.git/HEAD", "");
    write("chain/AGENTS.md", "@f0.md");
    for (let index = 0; index < 20; index++) write(`chain/f${index}.md`, `@f${index + 1}.md`);
    expect(textsIn("chain")).toHaveLength(5);
  });
});

describe("own commands and skills", () => {
  beforeAll(() => {
    write(
      "repo/.agent/commands/review.md",
      "---\ndescription: Review a file\n---\nReview $1 with care: $ARGUMENTS",
    );
    write("repo/.agent/commands/plain.md", "# Do it\n\nJust do it.");
    write("repo/.agent/commands/bad name.md", "x");
    write(
      "repo/.agent/skills/pdf/SKILL.md",
      '---\nname: pdf\ndescription: "Work with PDF files"\n---\nUse pdftk.',
    );
    symlinkSync(join(folder, "secret"), join(repo, ".agent/commands/leak.md"));
  });

  test("are read with their descriptions; links out and names that cannot be typed are left out", () => {
    expect(
      readOwnCommands(join(repo, ".agent")).map(({ name, description, kind }) => [name, description, kind]),
    ).toEqual([
      ["plain", "Do it", "command"],
      ["review", "Review a file", "command"],
      ["pdf", "Work with PDF files", "skill"],
    ]);
  });

  test("are found where other agents keep them; the first directory wins for the same name", () => {
    write("set/.git/HEAD", "");
    write("set/.agent/commands/both.md", "ours");
    write("set/.claude/commands/both.md", "theirs");
    write(
      "set/.claude/commands/fix.md",
      "\ufeff---\nallowed-tools: Bash(*)\nargument-hint: [issue]\n---\nFix $ARGUMENTS",
    );
    write("set/.agents/commands/ship.md", "Ship it.");
    write(
      "set/.agents/skills/pdf/SKILL.md",
      "---\nname: pdf\ndescription: >-\n  Works with\n  PDF files\nlicense: MIT\n---\nx",
    );
    write("set/.claude/skills/xls/SKILL.md", "---\nname: xls\ndescription: Sheets\n---\nx");
    expect(
      projectCommands(join(folder, "set")).map(({ name, kind, description, text }) => [
        name,
        kind,
        description,
        text,
      ]),
    ).toEqual([
      ["both", "command", "ours", "ours"],
      ["ship", "command", "Ship it.", "Ship it."],
      ["fix", "command", "Fix $ARGUMENTS", "Fix $ARGUMENTS"],
      ["pdf", "skill", "Works with PDF files", "x"],
      ["xls", "skill", "Sheets", "x"],
    ]);
  });

  test("take the text after their name as arguments", () => {
    const [plain, review, pdf] = readOwnCommands(join(repo, ".agent"));
    expect(review && expandOwnCommand(review, "a.ts now")).toBe("Review a.ts with care: a.ts now");
    expect(plain && expandOwnCommand(plain, "please")).toBe("# Do it\n\nJust do it.\n\nplease");
    expect(pdf && expandOwnCommand(pdf, "merge")).toMatch(
      /^Use this skill, which is in .*SKILL\.md:\n\nUse pdftk\.\n\nmerge$/,
    );
    expect(describeSkills([pdf].filter((one) => one !== undefined))).toContain(
      "- pdf: Work with PDF files (",
    );
  });
});
