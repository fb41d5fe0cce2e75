import type { CommandWord } from "../rules.js";

const CONTAINERS = /^(docker|podman|docker-compose)$/;
const FLAGS =
  /^(-[itdP]+|--(rm|init|detach|interactive|tty|privileged|read-only|publish-all)|--[a-z-]+=.*|exec|run|container|compose)$/s;
// The value of these is data: a path, a name, a number.
const VALUES =
  /^(-[vwepum]|--(volume|workdir|env|env-file|publish|user|name|network|memory|cpus|mount|label|hostname|platform))$/;
const ATTACHED_VALUE =
  /^(-[vwepu]|--(volume|workdir|env|env-file|publish|user|name|network|mount|label|hostname)=)["'$/\w.]/;

/**
 * The words of `docker run` and its like without the values that are data, such as `-v "$PWD":/app`: these
 * values are never the command, even if they are not known yet. Stops at the first word that it does not know.
 */
export function withoutContainerData(name: string, words: readonly CommandWord[]): readonly CommandWord[] {
  if (!CONTAINERS.test(name)) return words;
  const kept: CommandWord[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    const value = words[index + 1];
    if (word === undefined) break;
    if (VALUES.test(word.text ?? "") && value !== undefined && value.splits !== true) index++;
    else if (word.text === undefined && word.splits !== true && ATTACHED_VALUE.test(word.source)) continue;
    else if (FLAGS.test(word.text ?? "")) kept.push(word);
    else return [...kept, ...words.slice(index)];
  }
  return kept;
}
