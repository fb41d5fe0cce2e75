import { dirname, join } from "node:path";
import type { AccessRules } from "@agent/core";
import { canonicalPath, canonicalPaths, isInside } from "@agent/internal";
import { homeDirectory, type MentionPlace } from "@agent/terminal/host";
import { configDirectory, imageDirectory, stateDirectory, userPackagesDirectory } from "../process/paths.js";
import { PACKAGE, PACKAGE_KEY, PROJECT_PLACES, stopDirectory } from "./config/places.js";
import { namedSecretPlaces, SECRET_PLACES, SYSTEM_SECRETS } from "./secretPlaces.js";

/**
 * What tools may do without asking: write in the project and in the directories the user added, and read everywhere
 * except secret paths. The project is the repository around the working directory, or the directory itself. A directory
 * that contains the whole home, or is inside a secret path, is not a project.
 */
export function accessRules(cwd: string, added: readonly string[]): AccessRules {
  const homes = homeDirectories();
  const opened = canonicalPaths(added);
  const secret = canonicalPaths([
    ...homes.flatMap((home) => SECRET_PLACES.map((place) => join(home, place))),
    ...namedSecretPlaces(process.env),
    ...SYSTEM_SECRETS,
    configDirectory(),
    stateDirectory(),
  ]).filter((place) => !opened.includes(place));
  const project = canonicalPath(projectDirectory(cwd, homes));
  const around = new Set(withParents(project));
  const isProject =
    !homes.some((home) => isInside(project, home)) && !secret.some((place) => around.has(place));
  return {
    writable: [...new Set([...(isProject ? [project] : []), ...opened])],
    secret: [...new Set(secret)],
  };
}

/** Which files a message of the user can attach: no secret files, except images that the user pasted. */
export function mentionPlace(cwd: string): MentionPlace {
  return {
    cwd,
    root: () => projectDirectory(cwd),
    secret: () => accessRules(cwd, []).secret ?? [],
    imageDirectory: imageDirectory(),
  };
}

/** What no tool may change: the agent's own config, trust, sessions, compiled code and packages. */
export function protectedPaths(): string[] {
  return [configDirectory(), stateDirectory(), userPackagesDirectory()];
}

/** The names of a project's config, which no tool may change in any directory: the next run there would load it. */
export function protectedNames(): string[] {
  return PROJECT_PLACES.map((name) => (name === PACKAGE ? `${PACKAGE}#${PACKAGE_KEY}` : name));
}

/** The repository's root, unless that is the home directory: many users keep their settings in a repository. */
export function projectDirectory(cwd: string, homes: readonly string[] = homeDirectories()): string {
  const stop = stopDirectory(cwd);
  return homes.includes(canonicalPath(stop)) ? cwd : stop;
}

/** The directory and all its parents. */
function withParents(directory: string): string[] {
  const parent = dirname(directory);
  return parent === directory ? [directory] : [directory, ...withParents(parent)];
}

/** The home of the environment, and the account's own: a changed HOME must not give access to the real one. */
function homeDirectories(): string[] {
  return [...new Set([homeDirectory(), homeDirectory({})].map(canonicalPath))];
}
