import { shown, Unresolvable } from "../refusal.js";
import type { CommandWord } from "../rules.js";

// Options by which a program that prints writes a file, works in another place, or loads code from a file. They name no
// command, so that no rule against one is about them. But who allows "git log" with any words expects none of this.
const BEYOND_NAME: readonly (readonly [program: RegExp, option: RegExp])[] = [
  [/^git$/, /^(--ou|--ext-diff|--textconv|--template|--separate-git-dir|--unsafe-paths|--directory)/],
  [/^(sort|shuf|tree|iconv)$/, /^(-[a-zA-Z]*o|--o)/],
  [
    /^curl$/,
    /^(-[a-zA-Z]*[oOKDcJT]|--(o|remote|config|dump|cookie-j|trace|stderr|libcurl|etag-s|create|upload))/,
  ],
  [
    /^wget$/,
    /^(-[a-zA-Z]*[OPeiao]|--(output|directory|execute|config|append|input|rejected|warc|save|post-f))/,
  ],
  [
    /^(npm|pnpm|yarn|bun)$/,
    /^(-C|--(prefix|dir|cwd|node-op|userc|globalc|registry|script-s|shell|config|init-m|git|editor|viewer|browser|preload))/,
  ],
  [
    /^(pytest|py\.test)$/,
    /^(-[a-zA-Z]*[cpo]|--(rootd|confcut|override|pyargs|config|junit|basetemp|log-file))/,
  ],
  [
    /^(vitest|jest|mocha|eslint|prettier|stylelint|biome|vite|webpack|rollup|esbuild|playwright|tsup|tap|ava|karma|cypress)$/,
    /^(-[cfrol]|--(config|require|import|loader|plugin|resolve|rulesdir|parser|format|report|global-?setup|setup|env|transform|runner|test-?runner|preset|root|cwd|out|pool|project|dir|cache|node|exec))/i,
  ],
  [/^tsc$/, /^--?(out|build|p$|project|declarationd|tsbuild|generate)/i],
  [/^(g|b|p|d|n)?make$/, /^(-[a-zA-Z]*[CfIo]|--(dir|file|makef|include|eval))/],
  [/^cargo$/, /^(-C|--(manifest|target-dir|out-dir|artifact|root|path|git|registry))/],
  [
    /^go$/,
    /^--?(C$|C=|o$|o=|modfile|overlay|ldflags|gcflags|asmflags|gccgoflags|pkgdir|coverprofile|\w*profile|outputdir|trace)/,
  ],
  [
    /^(mvnw?|gradlew?)$/,
    /^(-f|-P|-D|-I|-s|-gs|-b|-c|-p|--(file|define|init|settings|project|include|build|gradle))/,
  ],
];

/** Throws if a program is told by an option to do something else than its name and subcommand say. */
export function refuseBeyondName(name: string, words: readonly CommandWord[]): void {
  const options = BEYOND_NAME.find(([program]) => program.test(name))?.[1];
  const found =
    options &&
    words.slice(1).find(({ text, source }) => {
      // A name that a wildcard stands for may be that of an option, unless something else comes first.
      return text === undefined ? !/^["']?[\w./]/.test(source) : options.test(text);
    });
  if (found) throw new Unresolvable(`${name} may write a file or run code by ${shown(found.source)}`);
}
