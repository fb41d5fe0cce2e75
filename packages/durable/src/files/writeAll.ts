import { writeSync } from "node:fs";

/** Writes everything or throws. A nearly full disk accepts only a part of a write, so it is repeated. */
export function writeAllSync(fd: number, text: string): void {
  const data = Buffer.from(text, "utf8");
  for (let done = 0; done < data.length; ) done += writeSync(fd, data, done);
}
