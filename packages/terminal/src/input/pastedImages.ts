import { readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensurePrivateDirectory } from "../system/directories.js";
import { ownProgram } from "../system/ownProgram.js";
import type { LineEditor } from "./editor.js";
import { isImagePath } from "./mentions.js";

const NONE = "There is no image on the clipboard that can be read here.";

/** The line that an image is inserted into, and how to report that there is no image. */
interface ImagePlace {
  readonly editor: LineEditor;
  hint(lines: readonly string[]): void;
  draw(): void;
}

/** Pasted images. Each becomes a mention of its file on the line. */
export class PastedImages {
  readonly #place: ImagePlace;
  readonly #directory: string | undefined;

  /** `directory` is where images from the clipboard are stored. Absent: they cannot be pasted. */
  constructor(place: ImagePlace, directory: string | undefined) {
    this.#place = place;
    this.#directory = directory;
  }

  /**
   * Handles a paste that is an image: the path of a dropped file, or an empty paste, which terminals send for an image.
   */
  take(text: string): boolean {
    const path = pastedImagePath(text);
    if (path !== undefined) this.#mention(path);
    else if (text === "") void this.paste();
    return path !== undefined || text === "";
  }

  /** Inserts the image from the clipboard into the line. */
  async paste(): Promise<void> {
    const file = this.#directory && (await saveClipboardImage(this.#directory));
    if (file === undefined) this.#place.hint([NONE]);
    else this.#mention(file);
    this.#place.draw();
  }

  #mention(path: string): void {
    const { editor } = this.#place;
    const isApart = editor.cursor === 0 || /\s/.test(editor.text[editor.cursor - 1] ?? "");
    editor.insert(`${isApart ? "" : " "}@"${path}" `);
  }
}

const LARGEST_IMAGE = 20 * 1024 * 1024;

const LIMIT_MS = 5000;

const KEPT_IMAGES = 50;

const PNG_START = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

/** Prints the image as AppleScript does, see `decodeImage`. */
const WINDOWS_IMAGE =
  "Add-Type -AssemblyName System.Windows.Forms,System.Drawing;$i=[Windows.Forms.Clipboard]::GetImage();if($i){$m=New-Object IO.MemoryStream;$i.Save($m,[Drawing.Imaging.ImageFormat]::Png);'PNGf'+[BitConverter]::ToString($m.ToArray()).Replace('-','')}";

type Environment = Readonly<Record<string, string | undefined>>;

type Command = readonly [program: string, ...args: string[]];

/**
 * Saves the image on the clipboard as a file in `directory`, which only its owner can enter; `undefined` if there is
 * none, or no installed program can read it. Never rejects. Keeps the last few images.
 */
async function saveClipboardImage(
  directory: string,
  env: Environment = process.env,
): Promise<string | undefined> {
  for (const command of clipboardCommands(env)) {
    const image = decodeImage(await output(command));
    if (!image) continue;
    try {
      ensurePrivateDirectory(directory);
      removeOldest(directory);
      const file = join(directory, `pasted-${new Date().toISOString().replace(/[^\d]/g, "")}.png`);
      writeFileSync(file, image, { flag: "wx", mode: 0o600 });
      return file;
    } catch {
      return undefined;
    }
  }
  return undefined;
}

/** The path, if a pasted text is the path of an image: terminals paste it when a file is dropped on them. */
function pastedImagePath(text: string): string | undefined {
  const line = text.trim();
  if (line === "" || line.includes("\n")) return undefined;
  const path = unquote(line);
  try {
    return path !== undefined && isImagePath(path) && statSync(path).isFile() ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Converts `'/a b.png'`, `/a\ b.png` and `file:///a%20b.png` to an absolute path. */
function unquote(text: string): string | undefined {
  if (text.startsWith("file://")) {
    try {
      return fileURLToPath(text);
    } catch {
      return undefined;
    }
  }
  const quoted = /^(["'])(.*)\1$/.exec(text)?.[2];
  const path = quoted ?? (process.platform === "win32" ? text : text.replace(/\\(.)/g, "$1"));
  return isAbsolute(path) ? path : undefined;
}

function clipboardCommands(env: Environment): Command[] {
  if (process.platform === "darwin") return [["osascript", "-e", "the clipboard as «class PNGf»"]];
  if (process.platform === "win32") return [["powershell", "-NoProfile", "-STA", "-Command", WINDOWS_IMAGE]];
  return [
    ...(env.WAYLAND_DISPLAY ? [["wl-paste", "--no-newline", "--type", "image/png"] as const] : []),
    ...(env.DISPLAY ? [["xclip", "-selection", "clipboard", "-t", "image/png", "-o"] as const] : []),
  ];
}

async function output([name, ...args]: Command): Promise<Buffer> {
  const program = ownProgram(name);
  if (program === undefined) return Buffer.alloc(0);
  const { execFile } = await import("node:child_process");
  const options = { encoding: "buffer", maxBuffer: 2 * LARGEST_IMAGE, timeout: LIMIT_MS } as const;
  return await new Promise((resolve) => {
    execFile(program, args, options, (error, stdout) => resolve(error ? Buffer.alloc(0) : stdout));
  });
}

/** Decodes a PNG, raw or in AppleScript notation: `«data PNGf89504E47…»`. */
function decodeImage(bytes: Buffer): Buffer | undefined {
  const hex = bytes[0] === PNG_START[0] ? undefined : /PNGf([0-9A-F]+)/.exec(bytes.toString("utf8"))?.[1];
  const image = hex === undefined ? bytes : Buffer.from(hex, "hex");
  return image.subarray(0, PNG_START.length).equals(PNG_START) ? image : undefined;
}

function removeOldest(directory: string): void {
  const names = readdirSync(directory).sort().reverse();
  for (const name of names.slice(KEPT_IMAGES - 1)) rmSync(join(directory, name), { force: true });
}
