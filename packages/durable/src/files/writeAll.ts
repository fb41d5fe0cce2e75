import { writeSync } from "node:fs";

/** Writes everything or throws. A nearly full disk accepts only a part of a write, so it is repeated. */
export function writeAllSync(fd: number, content: string | Uint8Array): void {
  const data = typeof content === "string" ? Buffer.from(content, "utf8") : content;
  for (let done = 0; done < data.length; ) done += writeSync(fd, data, done);
}
