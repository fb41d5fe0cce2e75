import { toUtf8 } from "@agent/internal";
import { checkPositive, checkText, invalidArgument } from "../../toolkit/hostOptions/checks.js";

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * A tool call's id in the format a server accepts. An id that matches `fits` is kept; any other, such as one from
 * another provider, is replaced with its hash, which is the same for the call and its result in every request.
 */
export function fitCallId(id: string, fits: RegExp, length = 24): string {
  checkText("id", id);
  if (!(fits instanceof RegExp)) throw invalidArgument("fits", "a regular expression", fits);
  checkPositive("length", length);
  if (fits.test(id)) return id;
  const bytes = toUtf8(id);
  let digits = "";
  for (let seed = 0; digits.length < length; seed++) {
    digits += hash(bytes, seed).toString(16).padStart(8, "0");
  }
  return digits.slice(0, length);
}

/** 32-bit FNV-1a. Telling ids apart needs no cryptographic hash, which some runtimes offer only asynchronously. */
function hash(bytes: Uint8Array, seed: number): number {
  let value = Math.imul(FNV_OFFSET ^ seed, FNV_PRIME);
  for (const byte of bytes) value = Math.imul(value ^ byte, FNV_PRIME);
  // Mixes the last bytes into all digits.
  value = Math.imul(value ^ (value >>> 15), 0x2c1b3c6d);
  return (value ^ (value >>> 13)) >>> 0;
}
