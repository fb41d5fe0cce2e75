import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { formatRule, type Grant, type GrantScope, type Grants, parseRule, type Rule } from "@agent/core/host";
import { isRecord, writeFileAtomic } from "@agent/core/toolkit";
import { canonicalPath } from "@agent/internal";
import { ensurePrivateDirectory } from "@agent/terminal/host";

/**
 * The user's permanent approvals. Grants for a project are stored in the user's own state, under the project's path: a
 * project cannot contain grants, and a copy of it elsewhere has none.
 */
export class ProjectGrants implements Grants {
  readonly #directory: string;
  readonly #project: string;
  #session: Rule[] = [];
  #kept: Rule[] | undefined;

  /** `directory` is where grants of all projects are stored. */
  constructor(directory: string, project: string) {
    this.#directory = directory;
    this.#project = canonicalPath(project);
  }

  list(): readonly Grant[] {
    return [
      ...this.#session.map((rule) => ({ rule, scope: "session" as const })),
      ...this.#keptRules().map((rule) => ({ rule, scope: "project" as const })),
    ];
  }

  /** Rejects if a grant for the project cannot be stored; the grant is then valid for the session. */
  async add(rule: Rule, scope: GrantScope): Promise<void> {
    const text = formatRule(rule);
    if (this.list().some((grant) => grant.scope === scope && formatRule(grant.rule) === text)) return;
    if (scope === "session") {
      this.#session.push(rule);
      return;
    }
    try {
      // Another chat in the same project may have added some.
      this.#kept = [...this.#load(), rule];
      await this.#save();
    } catch (error) {
      this.#kept?.pop();
      this.#session.push(rule);
      throw error;
    }
  }

  /** Revokes a grant. Resolves to whether there was one. */
  async revoke({ rule, scope }: Grant): Promise<boolean> {
    const text = formatRule(rule);
    const others = (rules: readonly Rule[]): Rule[] => rules.filter((one) => formatRule(one) !== text);
    const before = this.list().length;
    if (scope === "session") this.#session = others(this.#session);
    else {
      this.#kept = others(this.#load());
      await this.#save();
    }
    return this.list().length < before;
  }

  /** Read with the first decision, not while the command starts. */
  #keptRules(): readonly Rule[] {
    this.#kept ??= this.#load();
    return this.#kept;
  }

  get #file(): string {
    const hash = createHash("sha256").update(this.#project).digest("hex").slice(0, 16);
    return join(this.#directory, `${hash}.json`);
  }

  #load(): Rule[] {
    try {
      const saved: unknown = JSON.parse(readFileSync(this.#file, "utf8"));
      if (!isRecord(saved) || saved.project !== this.#project || !Array.isArray(saved.allow)) return [];
      return saved.allow.filter((text) => typeof text === "string").map(parseRule);
    } catch {
      // No file yet, or a damaged one: an unreadable file grants nothing.
      return [];
    }
  }

  async #save(): Promise<void> {
    ensurePrivateDirectory(this.#directory);
    const content = { project: this.#project, allow: this.#keptRules().map(formatRule) };
    await writeFileAtomic(this.#file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  }
}
