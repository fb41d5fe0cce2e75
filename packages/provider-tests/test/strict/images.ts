import { refuse } from "./rules.js";

/** What a server takes of images. */
export interface ImageRules {
  readonly types: readonly string[];
  /** What the base64 text of one may weigh. */
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

/** Refuses images as the servers do: too heavy, too large, too many, of a wrong format, or none at all. */
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

  /** An address with the image inside. */
  judgeDataUrl(url: string): void {
    const [, mediaType = "", data = ""] = /^data:([^;]+);base64,(.*)$/s.exec(url) ?? [];
    this.judge(mediaType, data);
  }
}
