import type { JsonSchema } from "../../tools/tool.js";
import { checkObject } from "../hostOptions/checks.js";

declare const valueType: unique symbol;

/** A JSON Schema whose values have a type that was written by hand. */
export type TypedSchema<Value> = JsonSchema & { readonly [valueType]: Value };

/**
 * Gives a JSON Schema the type of its values: for members with documentation, and for what the keywords alone do not say.
 *
 * @example
 * ```ts
 * import { definePack, typedSchema } from "@agent/core";
 *
 * interface ClockOptions {
 *   readonly zone?: string;
 * }
 *
 * export const { packName, packApiVersion, register } = definePack({
 *   name: "agent-pack-clock",
 *   options: typedSchema<ClockOptions>({ type: "object", properties: { zone: { type: "string" } } }),
 *   setup: ({ options }) => ({ tools: [], prompt: () => ({ title: "Time zone", text: options.zone ?? "local" }) }),
 * });
 * ```
 */
export function typedSchema<Value>(schema: JsonSchema): TypedSchema<Value> {
  checkObject("schema", schema);
  return schema as TypedSchema<Value>;
}

/**
 * The type of a value that fits a JSON Schema that is written out where it is used, as far as `type`, `enum`, `const`,
 * `properties`, `required` and `items` say. `unknown` for any other schema.
 */
export type JsonSchemaValue<S> = S extends { readonly [valueType]: infer Value }
  ? Value
  : S extends { readonly const: infer Value }
    ? Value
    : S extends { readonly enum: readonly (infer Value)[] }
      ? Value
      : S extends { readonly type: readonly (infer Type)[] }
        ? ValueOfType<S, Type>
        : S extends { readonly type: infer Type }
          ? ValueOfType<S, Type>
          : unknown;

type TypeName = "string" | "number" | "integer" | "boolean" | "object" | "array" | "null";

/** A JSON Schema that is written out, with only the types there are. A text that is not known before is accepted. */
export type CheckedSchema<S> = S extends { readonly "~standard": unknown }
  ? unknown
  : S extends { readonly [keyword: string]: unknown }
    ? {
        readonly [Key in keyof S as Key extends "type" | "properties" | "items"
          ? Key
          : never]: Key extends "type"
          ? CheckedType<S[Key]>
          : Key extends "properties"
            ? { readonly [Name in keyof S[Key]]: CheckedSchema<S[Key][Name]> }
            : CheckedSchema<S[Key]>;
      }
    : unknown;

type CheckedType<Type> = Type extends string
  ? string extends Type
    ? string
    : TypeName
  : Type extends readonly (infer Each)[]
    ? readonly CheckedType<Each>[]
    : unknown;

interface Primitives {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
}

type ValueOfType<S, Type> = Type extends keyof Primitives
  ? Primitives[Type]
  : Type extends "array"
    ? ItemOf<S>[]
    : Type extends "object"
      ? ObjectOf<S>
      : unknown;

type ItemOf<S> = S extends { readonly items: infer Items } ? JsonSchemaValue<Items> : unknown;

type ObjectOf<S> = S extends { readonly properties: infer Properties }
  ? Flat<
      { -readonly [Name in keyof Properties & RequiredOf<S>]: JsonSchemaValue<Properties[Name]> } & {
        -readonly [Name in Exclude<keyof Properties, RequiredOf<S>>]?: JsonSchemaValue<Properties[Name]>;
      }
    >
  : Record<string, unknown>;

type RequiredOf<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never;

/** One object type instead of an intersection: that is what an editor shows. */
type Flat<T> = { [Name in keyof T]: T[Name] };
