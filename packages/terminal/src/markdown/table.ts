import type { Style } from "../text/style.js";
import { styledWidth, wrapWords } from "../text/width.js";
import { renderInline } from "./inlineMarkdown.js";

type Alignment = "left" | "right" | "center";

/** A Markdown table: its head, its rows and how its columns are aligned. */
export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly alignments: readonly Alignment[];
}

// Narrower columns hardly hold a word: the rows are listed one below the other instead.
const NARROWEST_COLUMN = 6;
const MOST_COLUMNS = 64;
const DELIMITER_CELL = /^:?-+:?$/;

/** Parses lines that each start with a bar; `undefined` if they are not a table. */
export function readTable(lines: readonly string[]): Table | undefined {
  const [head, delimiters, ...rows] = lines.map(splitCells);
  if (!head || !delimiters || head.length !== delimiters.length || head.length > MOST_COLUMNS)
    return undefined;
  if (!delimiters.every((cell) => DELIMITER_CELL.test(cell))) return undefined;
  return {
    head,
    // Missing cells are empty; surplus cells are joined in the last column.
    rows: rows.map((row) =>
      head.map((_, at) => (at === head.length - 1 ? row.slice(at).join(" | ") : (row[at] ?? ""))),
    ),
    alignments: delimiters.map((cell) => {
      if (!cell.endsWith(":")) return "left";
      return cell.startsWith(":") ? "center" : "right";
    }),
  };
}

/** Draws a table within `width` columns: cells are wrapped between words, and columns share the space. */
export function tableLines({ head, rows, alignments }: Table, width: number, style: Style): string[] {
  const cells = [
    head.map((cell) => style.bold(renderInline(cell, style))),
    ...rows.map((row) => row.map((cell) => renderInline(cell, style))),
  ];
  const natural = head.map((_, column) =>
    cells.reduce((widest, row) => Math.max(widest, styledWidth(row[column] ?? "")), 1),
  );
  const widths = fitColumns(natural, width - 3 * head.length - 1);
  if (!widths) return recordLines(cells, width, style);
  const bar = style.dim("│");
  const rule = (left: string, middle: string, right: string): string =>
    style.dim(left + widths.map((columns) => "─".repeat(columns + 2)).join(middle) + right);
  const drawn = cells.map((row) => {
    const broken = widths.map((columns, at) => wrapWords(row[at] ?? "", columns));
    const height = Math.max(...broken.map((lines) => lines.length));
    return Array.from({ length: height }, (_, line) => {
      const parts = widths.map(
        (columns, at) => ` ${align(broken[at]?.[line] ?? "", columns, alignments[at])} `,
      );
      return bar + parts.join(bar) + bar;
    });
  });
  const [first = [], ...rest] = drawn;
  return [rule("┌", "┬", "┐"), ...first, rule("├", "┼", "┤"), ...rest.flat(), rule("└", "┴", "┘")];
}

/** Shrinks the widest columns until all fit; `undefined` if they cannot. */
function fitColumns(natural: readonly number[], room: number): number[] | undefined {
  const least = natural.map((columns) => Math.min(columns, NARROWEST_COLUMN));
  if (sum(least) > room) return undefined;
  let limit = Math.max(...natural);
  while (sum(natural.map((columns) => Math.min(columns, limit))) > room) limit -= 1;
  const widths = natural.map((columns) => Math.min(columns, limit));
  // The remainder of the division goes to the first columns that are narrower than their content.
  let spare = room - sum(widths);
  return widths.map((columns, at) => {
    const more = Math.min(spare, (natural[at] ?? 0) > columns ? 1 : 0);
    spare -= more;
    return columns + more;
  });
}

/** For a narrow terminal: each row as lines of `column: value`. */
function recordLines(
  [head = [], ...rows]: readonly (readonly string[])[],
  width: number,
  style: Style,
): string[] {
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [style.dim("──")]),
    ...row.flatMap((cell, at) => wrapWords(`${head[at] ?? ""}: ${cell}`, width, 2)),
  ]);
}

function align(text: string, columns: number, alignment: Alignment | undefined): string {
  const missing = Math.max(0, columns - styledWidth(text));
  const before = alignment === "right" ? missing : alignment === "center" ? Math.floor(missing / 2) : 0;
  return " ".repeat(before) + text + " ".repeat(missing - before);
}

/** The cells of a line. A bar after a backslash, or inside code, does not separate cells. */
function splitCells(line: string): string[] {
  const trimmed = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  const cells: string[] = [""];
  let inCode = false;
  for (let at = 0; at < trimmed.length; at++) {
    const character = trimmed[at] ?? "";
    if (character === "\\" && trimmed[at + 1] === "|") {
      cells.push(`${cells.pop() ?? ""}|`);
      at++;
    } else if (character === "|" && !inCode) cells.push("");
    else {
      if (character === "`") inCode = !inCode;
      cells.push((cells.pop() ?? "") + character);
    }
  }
  return cells.map((cell) => cell.trim());
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
