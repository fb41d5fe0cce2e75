import { corpusLines } from "./corpora.js";

/** A function as collections of tool definitions describe it: its types are often those of another system. */
export interface FunctionSchema {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What other type systems call the types of JSON Schema. */
const JSON_TYPES: Readonly<Record<string, string>> = {
  dict: "object",
  HashMap: "object",
  float: "number",
  double: "number",
  long: "integer",
  int: "integer",
  String: "string",
  str: "string",
  char: "string",
  Boolean: "boolean",
  bool: "boolean",
  tuple: "array",
  list: "array",
  Array: "array",
  ArrayList: "array",
};

type Properties = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

function define(name: string, properties: Properties, required: readonly string[] = []): FunctionSchema {
  return {
    name,
    description: name.replace(/[._]/g, " "),
    parameters: { type: "dict", properties, ...(required.length > 0 && { required }) },
  };
}

const WRITTEN: readonly FunctionSchema[] = [
  define("triangle_area", { base: { type: "float" }, height: { type: "float" } }, ["base", "height"]),
  define(
    "loan.monthly_payment",
    {
      principal: { type: "float" },
      yearly_rate: { type: "float", description: "As a fraction: 0.05 is five percent." },
      months: { type: "integer" },
    },
    ["principal", "yearly_rate", "months"],
  ),
  define(
    "weather.forecast",
    {
      place: { type: "string" },
      days: { type: "integer", default: 3 },
      unit: { type: "string", enum: ["celsius", "fahrenheit"] },
    },
    ["place"],
  ),
  define(
    "flights.search",
    {
      from: { type: "string" },
      to: { type: "string" },
      date: { type: "string", format: "date" },
      passengers: {
        type: "dict",
        properties: { adults: { type: "integer" }, children: { type: "integer" } },
        required: ["adults"],
      },
      classes: { type: "array", items: { type: "string", enum: ["economy", "business", "first"] } },
    },
    ["from", "to", "date"],
  ),
  define(
    "route.plan",
    {
      stops: { type: "array", items: { type: "tuple", items: { type: "float" } } },
      avoid: { type: "array", items: { type: "string" } },
      fastest: { type: "boolean" },
    },
    ["stops"],
  ),
  define(
    "matrix.multiply",
    {
      left: { type: "array", items: { type: "array", items: { type: "float" } } },
      right: { type: "array", items: { type: "array", items: { type: "float" } } },
    },
    ["left", "right"],
  ),
  define("statistics_median", { values: { type: "array", items: { type: "integer" } } }, ["values"]),
  define(
    "calendar.add_event",
    {
      title: { type: "string" },
      start: { type: "string" },
      minutes: { type: "integer" },
      guests: {
        type: "array",
        items: { type: "dict", properties: { name: { type: "string" }, mail: { type: "string" } } },
      },
      reminder: { type: "boolean", default: true },
    },
    ["title", "start"],
  ),
  define(
    "mail.send",
    {
      to: { type: "array", items: { type: "string" } },
      subject: { type: "string" },
      body: { type: "string" },
      headers: { type: "dict" },
    },
    ["to", "body"],
  ),
  define("orders.list", {
    status: { type: "string", enum: ["open", "paid", "sent", "returned"] },
    limit: { type: "integer" },
    cursor: { type: "any" },
  }),
  define("database.query", { sql: { type: "string" }, values: { type: "array", items: { type: "any" } } }, [
    "sql",
  ]),
  define(
    "image.resize",
    {
      file: { type: "string" },
      size: { type: "dict", properties: { width: { type: "integer" }, height: { type: "integer" } } },
      keep_ratio: { type: "boolean" },
    },
    ["file", "size"],
  ),
  define(
    "text.translate",
    {
      text: { type: "string" },
      language: { type: "string", enum: ["de", "en", "fr", "日本語"] },
    },
    ["text", "language"],
  ),
  define("stock_price", { symbol: { type: "string" }, at: { type: "string" } }, ["symbol"]),
  define(
    "recipe.find",
    {
      ingredients: { type: "array", items: { type: "string" } },
      diet: { type: "string" },
      minutes: { type: "integer" },
      nutrition: {
        type: "dict",
        properties: {
          calories: { type: "dict", properties: { most: { type: "float" }, least: { type: "float" } } },
        },
      },
    },
    ["ingredients"],
  ),
  define(
    "file_copy",
    { source: { type: "string" }, target: { type: "string" }, overwrite: { type: "boolean" } },
    ["source", "target"],
  ),
  define(
    "thermostat.set",
    { room: { type: "string" }, degrees: { type: "float" }, until: { type: "string" } },
    ["room", "degrees"],
  ),
  define(
    "playlist.shuffle",
    { tracks: { type: "array", items: { type: "integer" } }, seed: { type: "integer" } },
    ["tracks"],
  ),
  define(
    "currency.convert",
    { amount: { type: "float" }, from: { type: "string" }, to: { type: "string" } },
    ["amount", "from", "to"],
  ),
  define(
    "gene_lookup",
    { names: { type: "array", items: { type: "string" } }, species: { type: "string" } },
    ["names"],
  ),
  define(
    "chess.best_move",
    {
      board: { type: "string" },
      depth: { type: "integer" },
      clock: { type: "tuple", items: { type: "integer" } },
    },
    ["board"],
  ),
  define("time_zone", { latitude: { type: "float" }, longitude: { type: "float" } }, [
    "latitude",
    "longitude",
  ]),
  define("survey.answer", { answers: { type: "dict", properties: {} }, done: { type: "boolean" } }, [
    "answers",
  ]),
  define("ping", {}),
  define(
    "polygon.area",
    {
      corners: {
        type: "array",
        items: {
          type: "dict",
          properties: { x: { type: "float" }, y: { type: "float" } },
          required: ["x", "y"],
        },
      },
    },
    ["corners"],
  ),
  define(
    "invoice.create",
    {
      customer: { type: "string" },
      lines: {
        type: "array",
        items: {
          type: "dict",
          properties: { text: { type: "string" }, amount: { type: "float" }, count: { type: "integer" } },
          required: ["text", "amount"],
        },
      },
      tax: { type: "float", default: 0.19 },
    },
    ["customer", "lines"],
  ),
];

/** Functions as they are found in the wild: written here, and those of a corpus where it is present. */
export function functionSchemas(): FunctionSchema[] {
  return [...WRITTEN, ...corpusLines("bfcl-schemas.jsonl").map((line): FunctionSchema => JSON.parse(line))];
}

/** The schema with the names JSON Schema has for its types; what may be anything has none. */
export function withJsonTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withJsonTypes);
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
      if (key === "properties") {
        const entries = Object.entries(value as object).map(([name, one]) => [name, withJsonTypes(one)]);
        return [[key, Object.fromEntries(entries)]];
      }
      if (key === "items") return [[key, withJsonTypes(value)]];
      if (key !== "type" || typeof value !== "string") return [[key, value]];
      return value === "any" || value === "" ? [] : [[key, JSON_TYPES[value] ?? value]];
    }),
  );
}
