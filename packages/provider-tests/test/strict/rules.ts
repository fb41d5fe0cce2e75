/** Checks that the strict servers share. Each returns the text of a refusal, or nothing. */

export type Fields = Readonly<Record<string, unknown>>;

export interface StrictRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Fields;
}

/** The signatures that one strict server has given. */
export type Signed = ReadonlySet<string>;

export class Refusal extends Error {}

export function refuse(words: string): never {
  throw new Refusal(words);
}

export function only(where: string, value: unknown, allowed: readonly string[]): Fields {
  const fields = asRecord(where, value);
  const unknown = Object.keys(fields).find((name) => !allowed.includes(name));
  if (unknown !== undefined) refuse(`${where}.${unknown}: Extra inputs are not permitted`);
  for (const [name, one] of Object.entries(fields)) if (one === null) refuse(`${where}.${name} is null`);
  return fields;
}

export function asRecord(where: string, value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    refuse(`${where} must be an object`);
  return value as Fields;
}

export function asList(where: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) refuse(`${where} must be a list`);
  return value;
}

export function asText(where: string, value: unknown): string {
  if (typeof value !== "string") refuse(`${where} must be a string`);
  return value;
}

export function filled(where: string, value: unknown): string {
  const text = asText(where, value);
  if (text.trim() === "") refuse(`${where}: text content blocks must be non-empty`);
  return text;
}
