import { refuse } from "./rules.js";

/** The limits of a server for images. */
export interface ImageRules {
  readonly types: readonly string[];
  /** The most bytes of the base64 text of one image. */
  readonly base64Bytes?: number;
  readonly side?: number;
  readonly count?: number;
}

const BEGINNINGS: Readonly<Record<string, string>> = {
  "image/png": "89504e470d0a1a0a",
  "image/jpeg": "ffd8ff",
  "image/gif": "47494638",
  "image/webp": "52494646",
};

/** Refuses images as the servers do: too many bytes, pixels or images, a wrong format, or invalid data. */
export class ImageJudge {
  readonly #rules: ImageRules;
  #count = 0;

  constructor(rules: ImageRules) {
    this.#rules = rules;
  }

  judge(mediaType: string, data: string): void {
    const { types, base64Bytes = Infinity, side = Infinity, count = Infinity } = this.#rules;
    if (!types.includes(mediaType)) refuse(`Unsupported MIME type: ${mediaType}`);
    if (data.length > base64Bytes)
      refuse(`image exceeds the maximum: ${data.length} bytes > ${base64Bytes} bytes`);
    const bytes = Buffer.from(data, "base64");
    if (!bytes.toString("hex", 0, 8).startsWith(BEGINNINGS[mediaType] ?? ""))
      refuse("Could not process image");
    if (mediaType === "image/png" && Math.max(bytes.readUInt32BE(16), bytes.readUInt32BE(20)) > side) {
      refuse(`image dimensions exceed max allowed size: ${side} pixels`);
    }
    if (++this.#count > count) refuse(`too many images: at most ${count}`);
  }

  /** Checks an image in a data URL. */
  judgeDataUrl(url: string): void {
    const [, mediaType = "", data = ""] = /^data:([^;]+);base64,(.*)$/s.exec(url) ?? [];
    this.judge(mediaType, data);
  }
}
