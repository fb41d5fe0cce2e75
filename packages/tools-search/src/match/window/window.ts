import type { ByteWindow } from "./byteWindow.js";
import { PlainWindow } from "./plainWindow.js";
import { SimdWindow } from "./simdWindow.js";

/** The fastest window this machine has. Both kinds give the same answers. */
export function createWindow(size: number, simd = true): ByteWindow {
  if (simd) {
    try {
      return new SimdWindow(size);
    } catch {
      // No WebAssembly here, or none with vectors: the plain one does the same, slower.
    }
  }
  return new PlainWindow(Buffer.allocUnsafeSlow(size));
}
