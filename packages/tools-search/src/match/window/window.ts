import type { ByteWindow } from "./byteWindow.js";
import { PlainWindow } from "./plainWindow.js";
import { SimdWindow } from "./simdWindow.js";

/** Creates the fastest window available on this machine. Both kinds give the same results. */
export function createWindow(size: number, simd = true): ByteWindow {
  if (simd) {
    try {
      return new SimdWindow(size);
    } catch {
      // No WebAssembly here, or none with vector instructions: the plain window does the same, but slower.
    }
  }
  return new PlainWindow(Buffer.allocUnsafeSlow(size));
}
