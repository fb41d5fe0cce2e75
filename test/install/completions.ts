import { join } from "node:path";
import ts from "typescript";

/**
 * The completions of an editor in a file of a project; `|` in the text is the cursor. Uses TypeScript's language
 * service, as editors do.
 */
export function completions(directory: string, program: string): string[] {
  const file = join(directory, "completions.ts");
  const position = program.lastIndexOf("|");
  const text = program.slice(0, position) + program.slice(position + 1);
  const read = (path: string) => (path === file ? text : ts.sys.readFile(path));
  const service = ts.createLanguageService({
    getScriptFileNames: () => [file],
    getScriptVersion: () => "1",
    getScriptSnapshot: (path) => {
      const content = read(path);
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
    getCurrentDirectory: () => directory,
    getCompilationSettings: () => ({
      strict: true,
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.Node16,
      moduleResolution: ts.ModuleResolutionKind.Node16,
      types: [],
    }),
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (path) => path === file || ts.sys.fileExists(path),
    readFile: read,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    ...(ts.sys.realpath && { realpath: ts.sys.realpath }),
  });
  return service.getCompletionsAtPosition(file, position, {})?.entries.map(({ name }) => name) ?? [];
}
