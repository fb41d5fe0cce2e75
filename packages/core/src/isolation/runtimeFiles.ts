import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** Asks the host to change a file; `undefined` if no running call may write. */
export type ChangeFile = (
  method: "files/write" | "files/mkdir",
  params: Readonly<Record<string, unknown>>,
  raw?: Uint8Array,
) => Promise<unknown> | undefined;

const FLAGS = ["w", "wx", "a", "ax"];

type Function = (...args: unknown[]) => unknown;

/**
 * Lets `writeFile`, `appendFile` and `mkdir` change files of the project through the host: the file system is read-only here.
 * Other functions, and files in the private temporary directory, are unchanged.
 */
export function writeThroughHost(change: ChangeFile): void {
  const write =
    (usual: string) =>
    ([path, data, options]: readonly unknown[]): Promise<unknown> | undefined => {
      const { flag = usual, encoding = "utf8" } =
        typeof options === "string" ? { encoding: options } : (Object(options) as Record<string, unknown>);
      const target = projectPath(path);
      const raw = ArrayBuffer.isView(data)
        ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
        : typeof data === "string" && Buffer.isEncoding(String(encoding))
          ? Buffer.from(data, encoding as BufferEncoding)
          : undefined;
      if (target === undefined || raw === undefined || !FLAGS.includes(String(flag))) return undefined;
      return change("files/write", { path: target, flag }, raw);
    };
  const makeDirectory = ([path, options]: readonly unknown[]): Promise<unknown> | undefined => {
    const target = projectPath(path);
    if (target === undefined) return undefined;
    return change("files/mkdir", { path: target, recursive: Object(options).recursive === true });
  };
  replace("writeFile", write("w"));
  replace("appendFile", write("a"));
  replace("mkdir", makeDirectory);
  syncBuiltinESMExports();
}

/** Replaces a function of `fs` and `fs.promises`, for the arguments that `run` takes. */
function replace(
  name: "writeFile" | "appendFile" | "mkdir",
  run: (args: readonly unknown[]) => Promise<unknown> | undefined,
): void {
  const library = fs as unknown as Record<string, Function>;
  const promises = fs.promises as unknown as Record<string, Function>;
  const [plain, promised] = [library[name], promises[name]];
  promises[name] = (...args) => run(args) ?? promised?.(...args);
  library[name] = (...args) => {
    const callback = args.at(-1);
    const done = typeof callback === "function" ? run(args.slice(0, -1)) : undefined;
    if (done === undefined) return plain?.(...args);
    done.then(
      (value) => (callback as Function)(null, value),
      (error: unknown) => (callback as Function)(error),
    );
    return undefined;
  };
}

/** The absolute path; `undefined` for temporary files and for values that are not paths. */
function projectPath(path: unknown): string | undefined {
  const text = path instanceof URL ? fileURLToPath(path) : Buffer.isBuffer(path) ? path.toString() : path;
  if (typeof text !== "string") return undefined;
  const absolute = resolve(text);
  const isIn = (directory: string): boolean => !relative(directory, absolute).startsWith("..");
  // The project may be in the directory for temporary files itself.
  return isIn(process.cwd()) || !isIn(tmpdir()) ? absolute : undefined;
}
