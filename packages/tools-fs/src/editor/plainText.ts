import { isUtf8 } from "node:buffer";
import { looksBinary, markedEncoding } from "../read/textEncoding.js";

// A text goes to the editor and back as one message.
const MAX_BYTES = 8 * 1024 * 1024;

/** Whether an editor can be given these bytes as text and nothing of them is lost: UTF-8 without a mark, not too long. */
export function isPlainText(bytes: Uint8Array): boolean {
  return (
    bytes.length <= MAX_BYTES && markedEncoding(bytes) === undefined && !looksBinary(bytes) && isUtf8(bytes)
  );
}
