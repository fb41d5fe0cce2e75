import type { Words } from "./types.js";

// English words that occur where a path could be, but never name one.
const NOT_PATHS = new Set(
  (
    "a all an and any anything both each every everything file files folder folders for from here how i if in is it " +
    "many me more most my no none not nothing of on online or our same some something stuff that the their them then there these they " +
    "thing things this those to us web what when where which who why with you your google internet joke sense"
  ).split(" "),
);
const EXTENSIONLESS =
  /^(makefile|dockerfile|license|licence|readme|changelog|notice|authors|copying|gemfile|procfile|vagrantfile|justfile|rakefile|codeowners)$/i;

/** Whether a group can be taken as a path: quoted, or a word that is not just a word of the sentence. */
export function isPath(words: Words, group: string): boolean {
  const value = words.get(group);
  return value !== "" && (words.quoted(group) || !NOT_PATHS.has(value.toLowerCase()));
}

// Verbs a next step begins with: after "and" they start a request of their own.
const VERBS = new Set(
  "add append cat change copy create delete dir edit execute find grep head help list look ls make mkdir move mv open print put read remove rename replace rm run save search show stop tell touch view write".split(
    " ",
  ),
);

/** Whether a word after "and" is a further path and not the verb of a next step. */
export function isFurtherPath(words: Words, group: string): boolean {
  return isPath(words, group) && (words.quoted(group) || !VERBS.has(words.get(group).toLowerCase()));
}

/** Whether it looks like a path at all, for sentences that could as well be about something else. */
export function looksLikePath(words: Words, group: string): boolean {
  return (
    isPath(words, group) &&
    (words.quoted(group) || /[./\\~]/.test(words.get(group)) || EXTENSIONLESS.test(words.get(group)))
  );
}

/** Whether it looks like a file rather than a directory: it has an extension, or a name every project knows. */
export function looksLikeFile(value: string): boolean {
  const name = value.replace(/\/+$/, "").split("/").at(-1) ?? "";
  if (value.endsWith("/")) return false;
  return /.\.[A-Za-z0-9_+-]+$/.test(name) || EXTENSIONLESS.test(name);
}
