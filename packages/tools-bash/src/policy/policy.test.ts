import { describe, expect, test } from "vitest";
import { allowed, verdict } from "../../test/verdicts.js";
import { createPolicy } from "./policy.js";

describe("Scenario: Command validation (disallowed patterns)", () => {
  test("refuses a denied command with the rule and its reason", () => {
    const options = { deny: [{ command: "git push", reason: "Pushing is done by people." }] };
    expect(verdict("git status && git push origin main", options)).toEqual({
      allowed: false,
      rule: "git push",
      reason:
        'Refused by the policy: "git push origin main" matches the deny rule "git push". Reason: Pushing is done by people.',
    });
  });

  test.each([
    "rm x",
    "r''m x",
    '"rm" x',
    "'rm' x",
    "\\rm x",
    "/bin/rm x",
    "cd /bin && ./rm x",
    "true; rm x",
    "true && rm x",
    "false || rm x",
    "echo | rm x",
    "true & rm x",
    "true\nrm x",
    "(rm x)",
    "{ rm x; }",
    "if true; then rm x; fi",
    "while rm x; do :; done",
    "A=1 rm x",
    ">f rm x",
    "! rm x",
    "command rm x",
    "env rm x",
    "env -i A=1 rm x",
    "env -u A rm x",
    "exec rm x",
    "nohup rm x",
    "nice rm x",
    "nice -n 5 rm x",
    "nice -5 rm x",
    "timeout 5 rm x",
    "timeout -s KILL 5 rm x",
    "stdbuf -oL rm x",
    "xargs rm",
    "xargs -n 1 rm -f",
    "xargs -I{} rm {}",
    "find . -exec rm {} \\;",
    "find . -name x -execdir rm {} +",
    "sudo rm x",
    "sudo -u root rm x",
    "sudo A=1 rm x",
    "time rm x",
    "setsid -f rm x",
    "busybox rm x",
    "watch rm x",
    "ssh host rm x",
    "sh -c 'rm x'",
    "bash -lc 'rm x'",
    "sh -ec 'rm x'",
    "bash -o errexit -c 'rm x'",
    `sh -c "sh -c 'rm x'"`,
    "eval rm x",
    "eval 'rm x'",
    "trap 'rm x' EXIT",
    "env sh -c 'rm x'",
    "echo $(rm x)",
    'echo "$(rm x)"',
    "RM x",
    "until rm x; do :; done",
    "for i in 1; do rm x; done",
    "echo a | xargs -0 env rm",
    "env - rm x",
    "env -- rm x",
    'env "A=1" rm x',
    "A=$(rm x)",
    "A=$(rm x) ls",
    "export A=$(rm x)",
    "ls > $(rm x)",
    "for i in $(rm x); do :; done",
    "taskset -c 1 rm x",
    "flock f rm x",
    "flock f -c 'rm x'",
    "strace -f rm x",
    "cat f | while IFS= read -r line; do rm x; done",
  ])("refuses by the rule: %s", (command) => {
    expect(verdict(command)).toMatchObject({ allowed: false, rule: "rm" });
  });

  test.each([
    "$(echo rm) x",
    "`echo rm` x",
    '"$(echo rm)" x',
    "$X x",
    "a=r; b=m; $a$b x",
    `\${X:-rm} x`,
    'eval "$X"',
    "echo cm0geA== | base64 -d | sh",
    "printf 'rm x' | sh",
    "sh <<E\nrm x\nE",
    "sh",
    "sh script.sh",
    "bash -s",
    ". ./file",
    "source file",
    "alias ls=rm; ls x",
    "/bin/r? x",
    "/bin/[r]m x",
    'trap "$X" EXIT',
    "node -e 'x'",
    "node -p x",
    "python3 -c 'x'",
    "python3 <<E\nx\nE",
    "perl -we 'unlink'",
    "ruby -e x",
    "php -r x",
    "xargs -I% sh -c %",
    'sh -c "$X"',
    'find . -exec "$X" {} \\;',
    "find . -exec sh -c 'echo {}' \\;",
    "env -S 'rm x'",
    '"$@"',
    '"$1" x',
    "{rm,x}",
    "[[ a && b ]]",
    "((rm x))",
    "echo $'\\'; rm x #'",
    "cat <(rm x)",
    "awk 'BEGIN { system(\"rm x\") }'",
    "awk '{ print | \"sh\" }'",
    "awk -f x",
    "sed 's/a/b/w out.txt\ne rm x' f",
    "sed '1e rm x' f",
    "sed 's/a/rm x/e' f",
    "sed -ne 'e' f",
    "parallel $X",
    "su -c 'rm x'",
    "timeout $X rm x",
    "nice --unknown rm x",
    "a='b[$(rm x)]'; echo $((a))",
    "read a; echo $((a))",
    "echo $((PATH))",
    "printf -v 'a[$(rm x)]' x",
    "test -v 'x'",
    "let x",
    "select a in b; do rm x; done",
    "coproc rm x",
    "find $X rm \\;",
    'find "$A" rm "$B"',
    "script -c 'rm x'",
    "perl",
    "node -",
    "if true; then",
    "LD_PRELOAD=x ls",
    "export BASH_ENV=x",
    "ssh -o ProxyCommand='rm x' host",
    "csh -c 'rm x'",
    "time -f x rm y",
    'valgrind "$X"',
    "node --require x -e 'code'",
    "deno --quiet eval code",
    'env "LD_PRELOAD=x" ls',
    'export "BASH_ENV=x"',
    "for LD_PRELOAD in x; do ls; done",
    "echo 'rm x' | at now",
    "unshare -m env rm x",
    "tmux new-session 'rm x'",
    "echo rm x | sudo -s",
    "echo rm x | sudo --login",
    "echo rm x | chroot /",
    "ssh host",
    "echo code | python3 -v",
    "python3 /dev/stdin <<E\nx\nE",
    "sed sxaxrmxe f",
    'find "$X" rm -exec echo {} +',
    'find . -print "$X" rm {} \\;',
    "env LD_PRELOAD=x ls",
    "env 'BASH_FUNC_ls%%=() { rm x; }' bash -c ls",
    "env $X=1 ls",
    "find . -exec env -u + rm {} \\;",
    "choom -n 0 -- rm x",
    "linux64 rm x",
    "/lib64/ld-linux-x86-64.so.2 /bin/rm x",
    "npx -c 'rm x'",
    "gdb -batch -ex 'shell rm x'",
    "compgen -C 'rm x'",
    "awk 'BEGIN { system \\\n(\"rm x\") }'",
    "xargs python3",
    "xargs perl -w",
    "x=-c; python3 $x code",
    'node "$X"',
    "declare -i x; read x",
    "declare -n x='a[$(rm x)]'",
    "f() { local -ri x; }",
    "export x='a[$(rm x)]'",
    "x='a[$(rm x)]'; read \"$x\"",
    `read x; echo "\${s:x}"`,
    `read x; echo "\${s:0:$x}"`,
    `read x; echo "\${a[x]}"`,
    "read x; a[x]=1",
    `read x; echo "\${!x}"`,
    `x='$(rm x)'; echo "\${x@P}"`,
    'set -- "$(cat f)"; echo $(($1))',
    "sed '1erm x' f",
    "sed 'y/a/b/;erm x' f",
    "sed '\\,a,e' f",
    "sed '/a/Me' f",
    "sed '/[/]/!e' f",
    "sed 's/[[:alpha:]/]*//e' f",
    "sed 's/[]/]x/y/e' f",
    "sed 's/[^]/]x/y/e' f",
    "sed 's/a/b/;s/[^/]*$//;s/x/y/ge' f",
    "sed -l 5 e f",
    "sed --expr=e f",
    "sed -f x f",
    "xargs sed -n",
    "sed ':a e' f",
    "sh -c -o errexit 'rm x'",
    "sh -oc errexit 'rm x'",
    "bash -c +O extglob 'rm x'",
  ])("refuses because it cannot be known: %s", (command) => {
    expect(allowed(command)).toBe(false);
  });

  test("refuses at any position and depth", () => {
    for (const count of [60, 400]) expect(allowed(`${"true; ".repeat(count)}rm x`)).toBe(false);
    expect(allowed(`${"(".repeat(30)}rm x${")".repeat(30)}`)).toBe(false);
    expect(allowed(`${"(".repeat(20_000)}true${")".repeat(20_000)}`)).toBe(false);
    expect(allowed(`${"$(".repeat(5000)}true${")".repeat(5000)}`)).toBe(false);
    expect(allowed(`${"env ".repeat(5000)}true`)).toBe(false);
  });

  test("examines every script for sed quickly", () => {
    for (const part of ["\\a", "[a]", "[[:", "s/", "[", "1,", "{"]) {
      expect(allowed(`sed 's/${part.repeat(20_000)}x' f`)).toBe(true);
    }
  });

  test.each(["true\rrm x", "rm\vx", "rm\u00a0x", "\ufeffrm x", "true\u2028rm x", "rm\u3000x"])(
    "refuses a character that shells read differently and shows it: %j",
    (command) => {
      const result = verdict(command);
      expect(result).toMatchObject({
        allowed: false,
        reason: expect.stringMatching(/character U\+[0-9A-F]{4},/),
      });
    },
  );

  test("treats look-alikes and invisible letters as other names, and shows them escaped", () => {
    expect(allowed("ｒｍ x")).toBe(true);
    const result = verdict("git r\u200bm", { deny: ["git"] });
    expect(result).toMatchObject({ reason: expect.stringContaining("\\u200b") });
    expect(allowed("r\u200bm x", { allow: ["rm"] })).toBe(false);
  });

  test("checks 1 MB against 200 rules quickly", () => {
    const policy = createPolicy({ deny: Array.from({ length: 200 }, (_, i) => `command${i} -x`) });
    const command = "echo some words of a script; ".repeat(36_000);
    // In CPU time: how long that takes depends on what else the machine does.
    const before = process.cpuUsage();
    expect(policy?.check(command)).toEqual({ allowed: true });
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(2000);
  });
});
