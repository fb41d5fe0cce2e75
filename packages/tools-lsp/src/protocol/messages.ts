/** The part of the Language Server Protocol that this pack uses. Lines and characters count from 0, in UTF-16 units. */
export interface Position {
  readonly line: number;
  readonly character: number;
}

interface Range {
  readonly start: Position;
  readonly end: Position;
}

export interface Location {
  readonly uri: string;
  readonly range: Range;
}

export interface Diagnostic {
  readonly range: Range;
  /** 1 is an error, 2 a warning, 3 information, 4 a hint. Absent: the client decides; here it counts as an error. */
  readonly severity: number;
  readonly code: string;
  readonly message: string;
}

export interface TextEdit {
  readonly range: Range;
  readonly newText: string;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0;

function isPosition(value: unknown): value is Position {
  return isRecord(value) && isCount(value.line) && isCount(value.character);
}

function isRange(value: unknown): value is Range {
  return isRecord(value) && isPosition(value.start) && isPosition(value.end);
}

/** Parses a list of diagnostics. Malformed items are skipped. */
export function readDiagnostics(value: unknown, most: number): Diagnostic[] {
  if (!Array.isArray(value)) return [];
  const found: Diagnostic[] = [];
  for (const item of value as unknown[]) {
    if (found.length === most) break;
    if (!isRecord(item) || !isRange(item.range) || typeof item.message !== "string") continue;
    const { range, message, severity, code } = item;
    found.push({
      range,
      message,
      severity: typeof severity === "number" ? severity : 1,
      code: typeof code === "string" || typeof code === "number" ? String(code) : "",
    });
  }
  return found;
}

/** The severities of tsserver. */
const CATEGORIES: Readonly<Record<string, number>> = { error: 1, warning: 2, message: 3, suggestion: 4 };

/** Parses tsserver's answer to a request for diagnostics. It counts lines and characters from 1. */
export function readTsserverDiagnostics(value: unknown, most: number): Diagnostic[] {
  const items: readonly unknown[] = isRecord(value) && Array.isArray(value.body) ? value.body : [];
  const position = (at: unknown): unknown =>
    isRecord(at) && isCount(at.line) && isCount(at.offset)
      ? { line: at.line - 1, character: at.offset - 1 }
      : undefined;
  const diagnostics = items.map((item) =>
    isRecord(item)
      ? {
          range: { start: position(item.start), end: position(item.end) },
          severity: CATEGORIES[String(item.category)],
          code: item.code,
          message: item.text,
        }
      : undefined,
  );
  return readDiagnostics(diagnostics, most);
}

/** Parses one or more locations: `Location`, `Location[]` or `LocationLink[]`. */
export function readLocations(value: unknown): Location[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items.flatMap((item) => {
    if (!isRecord(item)) return [];
    const uri = item.uri ?? item.targetUri;
    const range = item.range ?? item.targetSelectionRange ?? item.targetRange;
    return typeof uri === "string" && isRange(range) ? [{ uri, range }] : [];
  });
}

export interface CodeSymbol {
  readonly name: string;
  readonly kind: number;
  readonly container: string;
  /** Absent: in the document that was asked about. */
  readonly uri?: string;
  readonly range: Range;
}

/** Parses symbols: nested or flat ones of a document, or those of a workspace. */
export function readSymbols(value: unknown, container = "", depth = 0): CodeSymbol[] {
  if (!Array.isArray(value) || depth > 50) return [];
  return (value as unknown[]).flatMap((item) => {
    if (!isRecord(item) || typeof item.name !== "string") return [];
    const { name } = item;
    const place = isRecord(item.location) ? item.location : undefined;
    const range = place ? place.range : (item.selectionRange ?? item.range);
    if (!isRange(range)) return [];
    const own: CodeSymbol = {
      name,
      kind: typeof item.kind === "number" ? item.kind : 0,
      container: typeof item.containerName === "string" ? item.containerName : container,
      ...(typeof place?.uri === "string" && { uri: place.uri }),
      range,
    };
    return [own, ...readSymbols(item.children, container === "" ? name : `${container}.${name}`, depth + 1)];
  });
}

/** The edits of one document in a `WorkspaceEdit`. */
export interface DocumentEdits {
  readonly uri: string;
  readonly version: number | undefined;
  readonly edits: readonly TextEdit[];
}

/** Parses a `WorkspaceEdit`. Throws if it does more than change the text of files. */
export function readWorkspaceEdit(value: unknown): DocumentEdits[] {
  if (value === null || value === undefined) return [];
  if (!isRecord(value)) throw new Error("the server sent edits that cannot be read");
  if (Array.isArray(value.documentChanges)) {
    return (value.documentChanges as unknown[]).map((change) => {
      if (isRecord(change) && typeof change.kind === "string")
        throw new Error(`the server wants to ${change.kind} a file, which a rename of a symbol must not do`);
      if (!isRecord(change) || !isRecord(change.textDocument)) throw new Error(MALFORMED);
      const { uri, version } = change.textDocument;
      if (typeof uri !== "string") throw new Error(MALFORMED);
      return {
        uri,
        version: typeof version === "number" ? version : undefined,
        edits: readTextEdits(change.edits),
      };
    });
  }
  if (!isRecord(value.changes)) return [];
  return Object.entries(value.changes).map(([uri, edits]) => ({
    uri,
    version: undefined,
    edits: readTextEdits(edits),
  }));
}

const MALFORMED = "the server sent edits that cannot be read";

function readTextEdits(value: unknown): TextEdit[] {
  if (!Array.isArray(value)) throw new Error(MALFORMED);
  return (value as unknown[]).map((edit) => {
    if (!isRecord(edit) || !isRange(edit.range) || typeof edit.newText !== "string")
      throw new Error(MALFORMED);
    return { range: edit.range, newText: edit.newText };
  });
}
