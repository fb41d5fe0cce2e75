// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's expansions, not templates
import { describe, expect, test } from "vitest";
import { allowed, verdict } from "../../test/verdicts.js";
import { simpleCommands } from "./parser.js";

/** The words of each command; `undefined` for one that only running the script would tell. */
function read(script: string): (string | undefined)[][] {
  return simpleCommands(script).map(({ words }) => words.map(({ text }) => text));
}

describe("Promise: only scripts that all shells read alike are judged", () => {
  test.each([
    // A redirection or a background command.
    ": &>/dev/null rm -rf victim",
    ": &>>f rm x",
    "true >&f rm x",
    "true >&-rm x",
    "<&-rm x",
    "true <&0rm x",
    "true 10>f rm x",
    "true {fd}>f rm x",
    "true 2>&1rm x",
    "true >|f",
    "true <>f",
    "true <<<rm",
    "true >!f rm",
    "true > !f rm",
    "true > #f",
    "true |& rm x",
    "true &! rm x",
    "true &| rm x",
    "true &rm x",
    // Where a here-document ends.
    "echo <<E${x|rm -rf victim }",
    "cat <<E`\nrm x\nE`",
    "cat <<E{\nrm x\nE{",
    "cat <<\\E\nrm x\nE",
    "cat <<E'F'\nx\nEF",
    "cat <<'E F'\nx\nE F",
    "cat <<''\nx\n\nrm x",
    "cat <<E\n$(rm x)\nE",
    "cat <<E\n`rm x`\nE",
    "cat <<E\nx\\\nE\nrm x\nE",
    "cat <<E\n${x:=y}\nE",
    "cat <<E\nrm x",
    "cat <<A <<B\nA\nB\nA\nB",
    "cat <<E 'a\nb'\nE\nrm x\nE",
    "cat <<E $(true\nE\n)\nE",
    'echo "$(cat <<E\nx\nE\n)"',
    "cat <<E \\\n x\nE\nrm x\nE",
    // Where a word ends.
    "rm$\\\nzz",
    "r\\\nm x",
    "true &\\\n& rm x",
    '"r\\\nm" x',
    "echo $\\\n(rm x)",
    "echo $'a' x",
    'echo $"a" x',
    "echo $[1]",
    "echo $((1))",
    "echo `rm x`",
    "echo {a,b}",
    "echo {1..3}",
    "echo a} x",
    "echo { rm x",
    "echo @(rm|x)",
    "echo $(true # )\nrm x)",
    "rm=(x)",
    "a+=1 rm x",
    "a[0]=1 rm x",
    "=rm x",
    // Found by the fuzzer, in ksh.
    "é=1 rm x",
    "a: rm x",
    "'' rm x",
    // What a word means.
    "f() { rm x; }; f",
    "f () { rm x; }",
    "function f { rm x; }; f",
    "case a in a) rm x;; esac",
    "[[ a = a ]]",
    "((1))",
    "select i in rm; do $i; done",
    "coproc rm x",
    "repeat 2 rm x",
    "foreach i (rm) $i x; end",
    "for i do rm x; done",
    "for if in a; do rm x; done",
    "for i in a & do rm x; done",
    "for i in a && do rm x; done",
    "for ((;;)); do rm x; done",
    "for i in a; { rm x; }",
    "time -f x rm y",
    "time A=1 rm x",
    "time ! rm x",
    "time if true; then rm x; fi",
    "A=1 if rm x",
    ">f if rm x",
    "if true; then true; fi rm x",
    "( true ) rm x",
    "true ) rm x",
    "(echo a(b)",
    "echo $(echo a(b)",
    // Operators with values.
    "echo ${x:=rm}",
    "echo ${x:-$(rm x)}",
    "echo ${x#y}",
    "echo ${#x}",
    "echo ${x/y/z}",
    "echo ${!x}",
    "echo ${x[0]}",
    "echo ${x@P}",
    "echo $-",
    // Not finished.
    "echo 'a",
    'echo "a',
    "echo $(true",
    "echo a\\",
    "true &&",
    "if true; then",
    "true; ; true",
    "; true",
    "{ true; ",
    "echo \ud800",
  ])("refuses %j", (script) => {
    expect(verdict(script, { deny: ["other"] })).toMatchObject({ allowed: false });
    expect(verdict(script, { allow: ["true", "echo", "cat", "rm", "f"] })).toMatchObject({ allowed: false });
  });

  test("says what it is, where it is, and what to write instead", () => {
    expect(verdict("true\ntrue &>f ls", { deny: ["rm"] })).toEqual({
      allowed: false,
      reason:
        'Refused by the policy, which judges only scripts that all shells read alike: line 2 has operators joined to one at "&>f ls": write "> file 2>&1", or a space after "&".',
    });
    expect(verdict("true; for ; do ls; done", { deny: ["rm"] })).toMatchObject({
      reason: expect.stringContaining(`line 1 has something that does not belong there at "; do ls; done"`),
    });
    expect(verdict("cat <<E\n$(ls)\nE")).toMatchObject({
      reason: expect.stringMatching(/line 2 has "\$" in a here-document at .*: quote its delimiter: <<'END'/),
    });
  });

  test.each<[script: string, words: (string | undefined)[][]]>([
    ["a 'b c' \"d e\" f\\ g ''", [["a", "b c", "d e", "f g", ""]]],
    ['a "\\$x \\" \\\\ \\n" $', [["a", '$x " \\ \\n', "$"]]],
    ["a && b || c; d | e & f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]],
    ["a # b\nc#d # e", [["a"], ["c#d"]]],
    ["a \\\n  b \\\n  c", [["a", "b", "c"]]],
    ["a >f 2>&1 <g b >>h", [["a", "b"]]],
    ["a>f b<g", [["a", "b"]]],
    ["A=1 B='x y' c D=2", [["c", "D=2"]]],
    [
      'a $x "$x" "${x}" x*y ~ HEAD~1 {}',
      [["a", undefined, undefined, undefined, undefined, undefined, "HEAD~1", "{}"]],
    ],
    [
      'a $(b "$(c d)")',
      [
        ["c", "d"],
        ["b", undefined],
        ["a", undefined],
      ],
    ],
    ["cat > f <<'E'\n$(rm x) `\n'E\nE\na", [["cat"], ["a"]]],
    ["cat <<-E | a\n\t$x costs $ 5\n\tE\nb", [["cat"], ["a"], ["b"]]],
    ["if a; then b; elif c; then d; else e; fi > f", [["a"], ["b"], ["c"], ["d"], ["e"]]],
    ["for i in 1 $x; do\n a\ndone", [[], ["a"]]],
    ["for i in 1 2\n\ndo a\ndone", [[], ["a"]]],
    ["while a; do b; done; until c\ndo d\ndone", [["a"], ["b"], ["c"], ["d"]]],
    ["(a; b) && { c; d; } | ! e".replace("! e", "e"), [["a"], ["b"], ["c"], ["d"], ["e"]]],
    [
      "! [ -f x ] && time -p a",
      [
        ["[", "-f", "x", "]"],
        ["time", "-p", "a"],
      ],
    ],
    ["a 'x\ny' \"z\nw\"", [["a", "x\ny", "z\nw"]]],
  ])("reads %j", (script, words) => {
    expect(read(script)).toEqual(words);
  });

  test.each([
    "git status && npm test",
    'grep -rn "foo bar" src | head -20',
    "node build.js > out.txt 2>&1",
    "cd packages/x && npm run build",
    "FOO=1 npm test",
    "cat > file.txt <<'EOF'\nlet x = `a ${b}`;\nEOF",
    'for f in src/*.ts; do wc -l "$f"; done',
    "if [ -f package.json ]; then npm ci; else echo none >&2; fi",
    'git log -1 --format="%H %s" && git diff HEAD~1 -- src',
    'git commit -m "fix: it\'s done"',
    "npm test 2>/dev/null || echo failed",
    "find . -name '*.ts' -not -path './node_modules/*' | xargs wc -l",
    "sed -n '1,20p' file | sort | uniq -c",
    'branch=$(git rev-parse --abbrev-ref HEAD) && echo "on $branch"',
    "python3 -m pytest -q tests/test_a.py::test_b",
    "npm run dev > dev.log 2>&1 &",
    "set -euo pipefail\nnpm ci\nnpm test",
    "mkdir -p a/b && touch a/b/c && ls -la a",
    "curl -s https://x/y?z=1 | jq '.a[0]'",
    "ls ~/project",
  ])("judges what users write: %j", (script) => {
    expect(allowed(script, { deny: ["rm"] })).toBe(true);
  });

  test("refuses a script beyond a bound, and quickly", () => {
    const before = process.cpuUsage();
    for (const script of [
      `${"( ".repeat(60)}true${" )".repeat(60)}`,
      `${"{ ".repeat(100_000)}`,
      `${"$(".repeat(100_000)}`,
      `echo ${"a ".repeat(20_000)}`,
      `npx ${"a ".repeat(9_000)}`,
      `${`npx ${"a ".repeat(300)};`.repeat(1000)}true`,
      "git log; ".repeat(100_000),
      "echo $(ls $(pwd));".repeat(50_000),
      `make ${"A='x y' ".repeat(1000)};`.repeat(125),
      `find . ${"-exec a ; ".repeat(9_000)}`,
      `tar ${"-x ".repeat(300_000)}`,
    ]) {
      expect(allowed(script), script.slice(0, 40)).toBe(false);
    }
    // These are read to the end: one long word takes time in proportion to its length.
    for (const script of [
      `tar ${"I".repeat(150_000)}_`,
      `make a${":".repeat(150_000)}`,
      `sqlite3 x '${"\n".repeat(150_000)}'`,
      `ls-${"0".repeat(150_000)}x`,
    ]) {
      expect(allowed(script), script.slice(0, 40)).toBe(true);
    }
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(9000);
  });
});
