import { isSecret } from "./withoutSecrets.js";

/** Options of `docker run` that take a value in the next word. */
const WITH_VALUE =
  /^(?:-[evpwulmh]|--(?:env|volume|mount|publish|workdir|user|label|memory|hostname|name|network|net|entrypoint|platform|env-file|pull|add-host|cpus|gpus|tmpfs|dns))$/;
const ENGINES = new Set(["docker", "podman", "nerdctl"]);

export function isContainer(program: string): boolean {
  return ENGINES.has(program.split(/[\\/]/).at(-1) ?? program);
}

/** The image of `run`: the first word that is no option and no value of one. */
export function imageOf(words: readonly string[]): string | undefined {
  const from = words.indexOf("run") + 1;
  for (let index = from; index < words.length; index++) {
    const word = words[index] ?? "";
    if (WITH_VALUE.test(word)) index++;
    else if (!word.startsWith("-")) return word;
  }
  return undefined;
}

/**
 * The variables that `-e` hands to a container. The client of the engine needs them itself, and a secret among them
 * must not be an argument: `-e KEY=value` becomes `-e KEY`.
 */
export function containerVariables(words: readonly string[]): {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
} {
  const env: Record<string, string> = {};
  const kept = words.map((word, index) => {
    const isValue = /^(?:-e|--env)$/.test(words[index - 1] ?? "");
    const [, flag = "", entry = ""] = isValue ? ["", "", word] : (/^(--env=)(.*)$/s.exec(word) ?? []);
    const [, name, value] = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(entry) ?? [];
    if (name === undefined || (value !== undefined && !isSecret(name, value))) return word;
    env[name] = value ?? `\${${name}}`;
    return `${flag}${name}`;
  });
  return { words: kept, env };
}
