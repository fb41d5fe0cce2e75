import { describe, expect, test } from "vitest";
import { lines, verdict } from "../../test/verdicts.js";

describe("a program that no table knows runs no denied command by a word it is given", () => {
  test.each(
    lines(String.raw`
  ranger --cmd='shell rm x'
  ranger --cmd=rm
  mutt -e 'shell-escape rm x'
  nginx -g 'perl_modules x; rm'
  kitty rm x
  kitty -e rm x
  kitty sh -c 'rm x'
  alacritty -e rm x
  foot rm x
  wezterm start -- rm x
  lxterminal -e 'rm x'
  konsole -e rm x
  xfce4-terminal -x rm x
  urxvt -e rm x
  st -e rm x
  terminator -x rm x
  tilix -e 'rm x'
  byobu new 'rm x'
  zellij action new-pane -- rm x
  runcon t rm x
  systemd-nspawn -D / rm x
  rr record rm x
  logsave log rm x
  cpio -o --rsh-command=rm
  osh -c 'rm x'
  rc -c 'rm x'
  es -c 'rm x'
  nano -s 'rm x' f
  nano --speller='rm x'
  pico -s rm f
  aria2c --on-download-complete=rm http://x
  aria2c --on-download-start rm x
  yt-dlp --exec 'rm x' url
  yt-dlp --exec=rm url
  youtube-dl --exec 'rm {}' url
  mpv --input-commands='run rm x'
  feh -A 'rm x' .
  feh --action 'rm x' .
  lualatex '\directlua{os.execute("rm x")}'
  crystal eval 'system("rm x")'
  stack exec -- rm x
  cabal exec -- rm x
  clisp -x '(shell "rm x")'
  ecl -eval '(ext:system "rm x")'
  chicken -e '(system "rm x")'
  csi -e '(system "rm x")'
  gosh -e '(sys-system "rm x")'
  java -XX:OnError='rm x' A
  java -XX:OnOutOfMemoryError='rm x' A
  sbt 'eval "rm x".!'
  bb -e '(shell "rm x")'
  rake -e 'sh "rm x"'
  rails runner 'system "rm x"'
  gem open -e rm x
  wp eval 'system("rm x");'
  drush php-eval 'system("rm x");'
  duckdb -c '.shell rm x'
  duckdb db '.system rm x'
  salt-call cmd.run 'rm x'
  puppet apply -e 'exec { "/bin/rm x": }'
  terragrunt run-all --terragrunt-hook rm
  podman unshare rm x
  buildah unshare rm x
  ctr task exec --exec-id x c rm x
  lxc-attach -n c -- rm x
  lxc-execute -n c -- rm x
  virsh qemu-agent-command x '{"execute":"guest-exec","arguments":{"path":"rm"}}'
  flatpak-spawn --host rm x
  kubectl debug x -- rm x
  oc rsh x rm x
  aws ssm send-command --parameters 'commands=["rm x"]'
  aws ssm start-session --parameters command='rm x'
  az vm run-command invoke --scripts 'rm x'
  flyctl ssh console -C 'rm x'
  fly ssh console --command 'rm x'
  gh codespace ssh -- rm x
  glab alias set x '!rm'
  jj --config ui.editor=rm describe
  jj util exec -- rm x
  p4 set P4EDITOR=rm
  darcs x --posthook='rm x'
  darcs record --posthook 'rm x'
  gksu rm
  kdesu -c rm
  daemon -- rm x
  envdir d rm x
  softlimit rm x
  tcpserver 0 1 rm x
  netcat -e /bin/rm h 1
  sshfs -o ssh_command=rm a b
  rsync -M--rsh=rm a b
  w3m -o ext_command='rm x' x
  lynx -editor=rm x
  openvpn --script-security 2 --up 'rm x'
  openvpn --up rm
  dhclient -sf /bin/rm
  dnsmasq --dhcp-script=/bin/rm
  pppd connect 'rm x'
  wpa_cli -a rm
  dtrace -c 'rm x'
  chokidar '*' -c 'rm x'
  reflex -- rm x
  air --build.cmd 'rm x'
  gow rm
  xe rm
  rush 'rm {}'
  sk --preview 'rm x'
  peco --exec 'rm x'
  rofi -run-command 'rm x'
  dialog --prgbox 'rm x' 1 1
  brew sh -c 'rm x'
  guix environment -- rm x
  uv tool run rm
  tox -x testenv.commands='rm x'
  fab -H h -- rm x
  ctest --build-command rm
  meson devenv rm x
  bazel run --run_under=rm x
  bazel run --run_under='rm x' //x
  bazel test --run_under=rm //x
  xmake l os.exec rm
  just --command rm x
  just -c 'rm x'
  just --shell rm x
  npm set-script x 'rm x'
  npm pkg set scripts.x='rm x'
  vault agent -exec rm
  sops exec-env f 'rm x'
  sops exec-file f 'rm {}'
  envconsul -- rm
  consul lock x rm x
  consul watch -type key rm x
  etcdctl exec-watch x -- rm x
  etcdctl watch x -- rm x
  nomad alloc exec x rm x
  cargo watch -x 'rm'
  cargo watch -s 'rm x'
  gdbserver :1 rm x
  dosbox -c rm
  qemu-system-x86_64 -netdev tap,script=/bin/rm
  schroot -- rm x
  pseudo rm x
  debugfs -R '!rm x'
  msgfilter -i f rm
  msgfilter sh -c 'rm'
  msgexec -i f rm
  ctags --_xcmd=rm
  gimp -b '(system "rm x")'
  mailx -E 'rm'
  mail '~!rm x'
  fetchmail --mda 'rm x'
  fetchmail --preconnect rm
  msmtp --passwordeval='rm x'
  weechat -r '/exec rm x'
  launchctl submit -l x -- rm x
  wsl rm x
  wsl -e rm x
  cmd.exe /c 'rm x'
  powershell.exe -c 'rm x'
  picocom --send-cmd='rm' x
  genie -c 'rm x'
  enroot start x rm x
  lima rm x
  colima ssh -- rm x
  lando ssh -c 'rm x'
  telepresence intercept x -- rm x
  coder ssh x rm x
  release-it --hooks.before:init='rm x'
  nx run-commands --command='rm x'
    `),
  )("is refused: %s", (command) => {
    expect(verdict(command)).toMatchObject({ allowed: false });
  });

  test.each(["-f x", "true; -f x", "if -f x; then true; fi"])(
    "refuses an option in place of a command: %s",
    (script) => {
      expect(verdict(script, { deny: ["other"] })).toMatchObject({
        reason: expect.stringContaining("stands where a command is expected"),
      });
    },
  );

  test("is refused with the name of the program, the rule and its reason", () => {
    expect(verdict("mutt -e 'set shell; !rm x'")).toEqual({
      allowed: false,
      reason: 'Refused by the policy: "mutt" may run "rm", which the deny rule "rm" names.',
      rule: "rm",
    });
    expect(verdict("kitty rm x", { deny: [{ command: "rm", reason: "Use trash." }] })).toMatchObject({
      reason:
        'Refused by the policy: "kitty" may run "rm", which the deny rule "rm" names. Reason: Use trash.',
    });
  });

  test("counts a rule of several words as a whole", () => {
    const options = { deny: ["git push"] };
    expect(verdict("kitty git push", options)).toMatchObject({ allowed: false });
    expect(verdict("kitty -e 'git push'", options)).toMatchObject({ allowed: false });
    expect(verdict("kitty git status", options)).toEqual({ allowed: true });
  });

  test("is not hidden by an allow rule for the program", () => {
    expect(verdict("kitty rm x", { deny: ["rm"], allow: ["kitty"] })).toMatchObject({ allowed: false });
  });

  test("is refused if a command has more such words than can be looked at", () => {
    const words = "x rm ".repeat(100_000);
    for (const command of [`unknown ${words}`, `unknown '${words}'`]) {
      const reason = expect.stringContaining("too many words");
      expect(verdict(command, { deny: ["rm -r"] })).toEqual({ allowed: false, reason });
    }
  });
});

describe("words that are data for a known program, or for one of the project, stay data", () => {
  test.each(
    lines(`
  aws s3 rm s3://bucket/key
  vercel rm project
  gsutil rm gs://bucket/key
  cargo rm serde
  npm rm left-pad
  pnpm rm left-pad
  helm uninstall rm
  gh issue create --title "rm -rf is dangerous"
  gh pr create --body "do not run rm x"
  curl -d '{"command": "rm x"}' https://example.org
  jq '.commands[] | select(. == "rm x")' file.json
  terraform state rm module.x
  ./scripts/container rm box
  tools/run.sh rm x
  tldr rm
  python3.12 script.py rm
  eslint --rule 'no-rm: error' src
  vitest run -t "rm removes"
    `),
  )("are allowed: %s", (command) => {
    expect(verdict(command)).toEqual({ allowed: true });
  });
});
