import type { JsonSchema } from "../../tools/tool.js";
import { checkObject } from "../hostOptions/checks.js";

declare const valueType: unique symbol;

/** A JSON Schema with a hand-written type of its values. */
export type TypedSchema<Value> = JsonSchema & { readonly [valueType]: Value };

/**
 * Sets the value type of a JSON Schema, for documented members and for constraints that keywords cannot express as
 * types.
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
 * The type of a value that matches an inline JSON Schema, as far as `type`, `enum`, `const`, `properties`, `required`
 * and `items` define it. `unknown` for any other schema.
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

/** An inline JSON Schema that allows only existing types. A string that is not known at compile time is accepted. */
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

/** The compiler names it in the error about a misspelt type. */
interface NotATypeOfJsonSchema {
  readonly use: TypeName;
}

type CheckedType<Type> = Type extends string
  ? string extends Type
    ? string
    : Type extends TypeName
      ? Type
      : NotATypeOfJsonSchema
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

/** One object type instead of an intersection, which is what an editor shows. */
type Flat<T> = { [Name in keyof T]: T[Name] };
