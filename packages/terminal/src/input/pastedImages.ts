import { pastedImagePath, saveClipboardImage } from "./clipboardImage.js";
import type { Editor } from "./editor.js";

const NONE = "There is no image on the clipboard that can be read here.";

/** The line that an image is inserted into, and the place for a hint that there is no image. */
interface ImagePlace {
  readonly editor: Editor;
  hint(lines: readonly string[]): void;
  draw(): void;
}

/** Images that a user pastes. Each becomes a mention of its file on the line. */
export class PastedImages {
  readonly #place: ImagePlace;
  readonly #directory: string | undefined;

  /** `directory` is where images from the clipboard are kept. Absent: they cannot be pasted. */
  constructor(place: ImagePlace, directory: string | undefined) {
    this.#place = place;
    this.#directory = directory;
  }

  /**
   * Takes a paste that is an image: the path of a dropped file, or an empty paste, which terminals send for an image.
   */
  take(text: string): boolean {
    const path = pastedImagePath(text);
    if (path !== undefined) this.#mention(path);
    else if (text === "") void this.paste();
    return path !== undefined || text === "";
  }

  /** Puts the image of the clipboard on the line. */
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
