import { isUtf8 } from "node:buffer";
import { looksBinary, markedEncoding } from "../read/textEncoding.js";

// The whole text is sent to and received from the editor as one message.
const MAX_BYTES = 8 * 1024 * 1024;

/** Whether an editor can represent these bytes as text without loss: UTF-8 without a byte order mark, not too long. */
export function isPlainText(bytes: Uint8Array): boolean {
  return (
    bytes.length <= MAX_BYTES && markedEncoding(bytes) === undefined && !looksBinary(bytes) && isUtf8(bytes)
  );
}
