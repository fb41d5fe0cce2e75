// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the shell's expansions, not templates
/** A number from 0 to below 1. */
export type Random = () => number;

/** The mulberry32 generator: the same seed gives the same scripts everywhere. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

// One string holds many pieces, so that the tables stay readable.
function pieces(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => line.split("¦"));
}

const COMMANDS = pieces(['ok_1¦ok_2 a¦ok_3 \'b c\'¦ok_1 "d e"¦ok_2 f\\ g¦A=1 ok_1¦:¦ok_1 $x¦ok_2 "$x" h']);
const SEPARATORS = pieces(["; ¦ && ¦ || ¦ | ¦\n¦ & ¦;¦&&¦||¦|¦&¦ \\\n && "]);
// Syntax that at least one shell parses differently, and the plain syntax around it.
const FRAGMENTS = pieces([
  " ¦ ¦ ¦\n¦\t¦;¦&¦|¦&&¦||¦\\¦\\\n¦ \\\n¦\\\n ¦'¦\"¦''¦\"\"¦`¦$¦$(¦)¦(¦((¦))¦$((¦${¦${x¦${x-",
  '${x:-¦${x:=¦${x#¦}¦{¦{ ¦; }¦$x¦"$x"¦${x}¦"${x}"¦$@¦"$@"¦$*¦$#¦$?¦$!¦$-¦$$¦$1¦$\\\n¦$\'',
  "$\"¦$[¦#¦ #¦ # '¦!¦ ! ¦=¦+=¦A=¦A=1 ¦ A=1¦A+=1 ¦a[0]=1 ¦a=(¦~¦~+¦:~¦=~¦*¦?¦[¦]¦[a]¦@(¦+(¦!(",
  "{a,b}¦{}¦{1..2}¦{x}¦{fd}>f ¦<¦>¦>>¦<>¦>|¦<&¦>&¦&>¦&>>¦<&-¦>&-¦2>&1¦ 2>&1 ¦>&2¦1>&2¦2>¦10>¦2<",
  "<f¦>f¦>f ¦ >f¦> f ¦>>f¦<f ¦</dev/null ¦>/dev/null ¦<(¦>(¦<<<¦<<¦<<-¦<<E¦<<'E'¦<<\"E\"¦<<\\E",
  "<<E ¦<<-E¦<< E¦<<E$¦<<E`¦<<E{¦<<E\\\n¦<<${x¦\nE\n¦\nE¦\n\tE\n¦E¦\nE )\n¦E\n¦;;¦;&¦|&¦&!¦&|¦^",
  "%¦,¦-¦--¦+¦.¦/¦//¦@¦\r¦\u000b¦\f¦\b¦\u00a0¦\u0085¦\u2028¦\u00e9¦\u00e0¦\u200b¦\u0001¦\u007f",
  "if ¦then ¦; then ¦else ¦elif ¦; fi¦ fi¦fi\n¦for i in ¦for i in a; do ¦for i\n¦; do ¦do ",
  "; done¦ done¦while ok_3; do ¦until ok_1; do ¦case x in ¦case ¦esac¦ in ¦x)¦x) ¦;; esac¦[[ ",
  " ]]¦function f ¦f() ¦f()¦() ¦time ¦time -p ¦coproc ¦select i in ¦repeat 2 ¦eval ¦command ",
  "exec ¦builtin ¦trap ¦EXIT¦noglob ¦- ¦: ¦:¦true ¦x¦0¦1¦2¦9¦-n¦-c",
]);
const DENIED = pieces([
  "denied¦denied ¦ denied¦denied x¦\ndenied ¦; denied¦ den\\ied ¦d''enied ¦\"denied\" ¦denied$x",
  "$y¦-denied¦denied\n¦(denied)¦{ denied; }¦$(denied)¦`denied`",
]);
// Whole scripts to be mutated, each near an edge of the grammar.
const SEEDS = pieces([
  "ok_1 a <<E\ntext $x\nE\nok_2 b¦ok_1 <<'E'\n$(denied) ` \\\nE\nok_2",
  'ok_1 <<-E\n\ttext\n\tE\nok_2¦ok_1 "$(ok_2 "a b")" c¦( ok_1; ok_2 ) > f',
  "{ ok_1; ok_2; } 2>&1 | ok_3¦if ok_1; then ok_2; else ok_3; fi¦for i in a b; do ok_1 $i; done",
  "while ok_3; do ok_1; done¦ok_1 > f 2>&1 && ok_2 < f¦A=1 B='x y' ok_1¦! ok_1 | ok_2",
  "ok_1 # denied\nok_2¦ok_1 \\\n  a \\\n  b¦ok_1 'it''s' \"a'b\" c\\'d¦ok_1 a& ok_2¦time ok_1 a",
  'ok_1 HEAD~1 a:b {} x=~ [a] *¦x=$(ok_1); ok_2 "$x"¦ok_1 $(ok_2 $(ok_3))¦ok_1 >&2 <&- a',
  'ok_1 "\\$ \\" \\\\ \\a" $¦ok_1 <<E | ok_2\nx\nE¦ok_1 "a\nb" \'c\nd\'¦: <<E\nE\n',
  "ok_1 \u00e9 \"\u00e0\" '\u00fc'¦if ok_3; then ok_1; elif ok_1; then ok_2; fi > f",
  "(ok_1) && { ok_2; }¦ok_1 $x$y\"z\"'w'¦ok_1 a#b # c¦until ok_1; do ok_2; done",
  'ok_1 -n ${x} "${y}" $1',
]);
// Forms that were once accepted and ran "denied" in some shell, with room for variation.
const KNOWN = pieces([
  ": &>/dev/null denied x¦ok_1 <<E${x|denied }¦ok_1 <<E`\ndenied\nE`¦ok_1 <<E{\ndenied\nE{\n",
  "denied$\\\nzz¦<&-denied¦ok_1 >&-denied¦x=denied; $x¦ok_1 {fd}>f¦ok_1 10>f denied",
]);

function pick<T>(random: Random, list: readonly T[]): T {
  const item = list[Math.floor(random() * list.length)];
  if (item === undefined) throw new Error("an empty list");
  return item;
}

function piece(random: Random): string {
  const kind = random();
  if (kind < 0.12) return pick(random, DENIED);
  if (kind < 0.3) return pick(random, COMMANDS);
  if (kind < 0.4) return pick(random, SEPARATORS);
  return pick(random, FRAGMENTS);
}

/** A few random changes: an insertion, a deletion, a duplication, or a move. */
function mutate(random: Random, script: string): string {
  let text = script;
  const changes = 1 + Math.floor(random() * 4);
  for (let change = 0; change < changes; change++) {
    const at = Math.floor(random() * (text.length + 1));
    const end = Math.min(text.length, at + 1 + Math.floor(random() * 3));
    const kind = random();
    if (kind < 0.7) text = text.slice(0, at) + piece(random) + text.slice(at);
    else if (kind < 0.85) text = text.slice(0, at) + text.slice(end);
    else text = text.slice(0, end) + text.slice(at, end) + text.slice(end);
  }
  return text;
}

// Ways to nest a script in another, at "X": shells differ in where they look for the end of the inner one.
const NESTS = pieces([
  '( X )¦{ X; }¦ok_1 $(X)¦ok_1 "$(X)"¦ok_1 `X`¦ok_1 "`X`"¦ok_2 ${x:-$(X)}¦ok_2 "${x:-$(X)}"¦! X',
  "if X; then X; fi¦for i in $(X); do X; done¦while ok_3; do X; done¦case a in a) X;; esac¦case a in (b|a) X;; esac",
  "ok_1 <<E\n$(X)\nE\n¦ok_1 <<E\n`X`\nE\n¦ok_1 <<'E'\n$(X)\nE\n¦ok_1 <<A <<'B'\nX\nA\nX\nB\nX¦X | ok_1 <<E\nE\nX",
  "ok_1 $(X # '\n)¦ok_1 $(ok_2 <<E\nX\nE\n)¦x=$(X) y=`X` ok_1¦ok_1 $((1 + $(X)))¦ok_1 > $(X)¦(X) > f 2>&1",
  "f() { X; }; f¦ok_1 \"${x#'X'}\"¦ok_1 '$(X)' \"'$(X)'\"¦ok_1 \"\\$(X)\" X¦ok_1 \\$\\(X\\)",
]);

/** A script nested in others, a few levels deep. */
function nested(random: Random, depth: number): string {
  if (depth === 0) return random() < 0.15 ? pick(random, DENIED) : pick(random, COMMANDS);
  return pick(random, NESTS).replaceAll("X", () => nested(random, random() < 0.6 ? depth - 1 : 0));
}

/** The script with line continuations in the middle of words and operators. */
function continued(random: Random, script: string): string {
  return [...script].map((character) => (random() < 0.06 ? `\\\n${character}` : character)).join("");
}

/**
 * The start of one script and the end of another, which leaves a quote, a group or a here-document of the first open.
 */
function spliced(random: Random): string {
  const [first, second] = [pick(random, SEEDS), nested(random, 1)];
  const cut = Math.floor(random() * (first.length + 1));
  return first.slice(0, cut) + second.slice(Math.floor(random() * (second.length + 1)));
}

const WRAPS = pieces([
  '\'X\'¦"X"¦$\'X\'¦$"X"¦`X`¦$(X)¦${x:-X}¦"${x:+X}"¦${x%X}¦$((X))¦((X))¦[[ X ]]¦(X)¦{ X; }¦<(X)¦\\X¦{X,ok_1}¦\'X"¦"X\'',
]);

/** The script with a part of it in quotes or brackets, or with two parts exchanged. */
function rearranged(random: Random, script: string): string {
  const [a = 0, b = 0, c = 0] = Array.from({ length: 3 }, () =>
    Math.floor(random() * (script.length + 1)),
  ).sort((left, right) => left - right);
  const [before, one, two, after] = [
    script.slice(0, a),
    script.slice(a, b),
    script.slice(b, c),
    script.slice(c),
  ];
  if (random() < 0.4) return before + two + one + after;
  return before + pick(random, WRAPS).replace("X", () => one) + two + after;
}

/** A script of commands that only record that they ran, assembled to be ambiguous. */
export function generateScript(random: Random): string {
  const kind = random();
  if (kind < 0.04) return spliced(random);
  if (kind < 0.08) return rearranged(random, pick(random, SEEDS));
  if (kind < 0.1) return nested(random, 1 + Math.floor(random() * 3));
  if (kind < 0.15) return mutate(random, nested(random, 1 + Math.floor(random() * 2)));
  if (kind < 0.2) return continued(random, nested(random, Math.floor(random() * 3)));
  if (kind < 0.5) return mutate(random, pick(random, SEEDS));
  if (kind < 0.6) return mutate(random, pick(random, KNOWN));
  if (kind < 0.75)
    return mutate(random, `${pick(random, SEEDS)}${pick(random, SEPARATORS)}${pick(random, SEEDS)}`);
  if (kind < 0.9) {
    const count = 1 + Math.floor(random() * 4);
    const parts = Array.from({ length: count }, () => pick(random, COMMANDS) + pick(random, SEPARATORS));
    return mutate(random, parts.join("") + pick(random, COMMANDS));
  }
  return Array.from({ length: 2 + Math.floor(random() * 9) }, () => piece(random)).join("");
}
