import { describeValue, isRecord, truncateUtf8, truncateUtf8Start } from "@agent/internal";
import { boundDiffs, copyJson, type FileDiff, isFileDiff } from "./callDescription.js";

const MAX_VIEW_BYTES = 16 * 1024;
const MAX_VALUE_BYTES = 64 * 1024;
// Far more than any view shows, and small enough to copy.
const MAX_GIVEN_BYTES = 64 * 1024 * 1024;

/**
 * How a result is displayed, as data: terminal, web page, editor and export render the same view. The model still reads
 * the text of the result. `more` counts what was omitted: lines of a text, or items and rows.
 */
export type ResultView =
  | { readonly type: "diff"; readonly files: readonly FileDiff[] }
  | {
      readonly type: "code";
      readonly text: string;
      readonly path?: string;
      readonly startLine?: number;
      readonly more?: number;
    }
  | {
      readonly type: "output";
      /** The end of the output. */
      readonly text: string;
      readonly exitCode?: number;
      /** Files with the whole output. */
      readonly files?: readonly { readonly label: string; readonly path: string; readonly bytes?: number }[];
      readonly more?: number;
    }
  | {
      readonly type: "list";
      readonly items: readonly { readonly text: string; readonly path?: string; readonly line?: number }[];
      readonly more?: number;
    }
  | {
      readonly type: "table";
      readonly columns: readonly string[];
      readonly rows: readonly (readonly string[])[];
      readonly more?: number;
    }
  | {
      readonly type: "fields";
      readonly fields: readonly (readonly [string, string])[];
      readonly more?: number;
    }
  | { readonly type: "markdown"; readonly text: string; readonly more?: number };

/** Reads a view that a tool reported: redacted, and cut to 16 KB. Throws an `Error` that names the problem. */
export function readView(value: unknown, redact: (text: string) => string): ResultView {
  const given = copyJson(value, MAX_GIVEN_BYTES, "the view");
  if (!isView(given)) throw new Error(`the view is not valid: ${describeValue(given)}`);
  const shown = boundView(redactJson(given, redact) as ResultView);
  return copyJson(shown, 4 * MAX_VIEW_BYTES, "the shortened view") as unknown as ResultView;
}

/** Reads a value that a tool reported: redacted. `undefined` if it is longer than 64 KB. Throws if it is not JSON. */
export function readValue(value: unknown, redact: (text: string) => string): unknown {
  const text = JSON.stringify(value);
  if (text === undefined) throw new Error(`the value is ${describeValue(value)}, which is not JSON`);
  return text.length > MAX_VALUE_BYTES ? undefined : redactJson(JSON.parse(text), redact);
}

/** Replaces known secrets in every text of a JSON value. */
export function redactJson(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactJson(item, redact));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [redact(key), redactJson(item, redact)]),
  );
}

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): boolean => value === undefined || Number.isFinite(value);
const isOptionalText = (value: unknown): boolean => value === undefined || isText(value);
const isList = (value: unknown, isItem: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isItem);

function isView(view: Record<string, unknown>): boolean {
  if (!isNumber(view.more)) return false;
  switch (view.type) {
    case "diff":
      return isList(view.files, isFileDiff);
    case "code":
      return isText(view.text) && isOptionalText(view.path) && isNumber(view.startLine);
    case "output":
      return (
        isText(view.text) &&
        isNumber(view.exitCode) &&
        (view.files === undefined ||
          isList(
            view.files,
            (file) => isRecord(file) && isText(file.label) && isText(file.path) && isNumber(file.bytes),
          ))
      );
    case "list":
      return isList(
        view.items,
        (item) => isRecord(item) && isText(item.text) && isOptionalText(item.path) && isNumber(item.line),
      );
    case "table":
      return isList(view.columns, isText) && isList(view.rows, (row) => isList(row, isText));
    case "fields":
      return isList(
        view.fields,
        (field) => Array.isArray(field) && field.length === 2 && field.every(isText),
      );
    case "markdown":
      return isText(view.text);
    default:
      return false;
  }
}

function boundView(view: ResultView): ResultView {
  switch (view.type) {
    case "diff":
      return { ...view, files: boundDiffs(view.files, MAX_VIEW_BYTES) };
    case "code":
    case "markdown":
      return boundText(view, truncateUtf8(view.text, MAX_VIEW_BYTES));
    case "output":
      return boundText(view, truncateUtf8Start(view.text, MAX_VIEW_BYTES));
    case "list":
      return { ...view, ...boundItems("items", view.items, view.more) };
    case "table":
      return { ...view, ...boundItems("rows", view.rows, view.more) };
    case "fields":
      return { ...view, ...boundItems("fields", view.fields, view.more) };
  }
}

function boundText<View extends ResultView & { readonly text: string; readonly more?: number }>(
  view: View,
  text: string,
): View {
  if (text === view.text) return view;
  const more = (view.more ?? 0) + countLines(view.text) - countLines(text);
  return { ...view, text, more: Math.max(1, more) };
}

function countLines(text: string): number {
  return text.split("\n").length;
}

function boundItems<Name extends string, Item>(
  name: Name,
  items: readonly Item[],
  more = 0,
): Record<Name, readonly Item[]> & { more?: number } {
  let left = MAX_VIEW_BYTES;
  const kept = items.filter((item) => {
    left -= JSON.stringify(item).length;
    return left >= 0;
  });
  const all = more + items.length - kept.length;
  return { [name]: kept, ...(all > 0 && { more: all }) } as Record<Name, readonly Item[]> & { more?: number };
}
