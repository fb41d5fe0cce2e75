import { checkText } from "../../toolkit/hostOptions/checks.js";

/** Consecutive messages of one role: JSON objects, separated by commas. */
export interface Turn<Role extends string = string> {
  readonly role: Role;
  text: string;
}

/** A conversation for servers that want its roles to alternate: consecutive messages of one role are one turn. */
export class TurnList<Role extends string> {
  readonly turns: Turn<Role>[] = [];

  /** `text` holds at least one object. */
  add(role: Role, text: string): void {
    checkText("role", role);
    checkText("text", text);
    const last = this.turns.at(-1);
    if (last?.role === role) last.text += `,${text}`;
    else this.turns.push({ role, text });
  }

  /** The turns as a list, with their objects in the field `name`. */
  toJson(name: string): string {
    checkText("name", name);
    let json = "";
    for (const { role, text } of this.turns) {
      json += `${json === "" ? "" : ","}{"role":"${role}","${name}":[${text}]}`;
    }
    return `[${json}]`;
  }
}
