// A program that has files open while a worker thread of it runs commands and ends: prints which files are still its own.
import { closeSync, fstatSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

const FILES = 40;
const ROUNDS = 3;
const entry = new URL("../dist/index.js", import.meta.url).href;
const directory = mkdtempSync(join(tmpdir(), "tools-bash-worker-"));
const code = `
  import { parentPort } from "node:worker_threads";
  const { runBashTool } = await import(${JSON.stringify(entry)});
  const tool = runBashTool();
  const results = await Promise.all(
    Array.from({ length: 10 }, (_, index) => tool.execute({ command: "echo " + index + "; sleep 0.05" })),
  );
  parentPort.postMessage(results.map((text) => JSON.parse(text).stdout.trim()));
  process.exit();`;

const printed = [];
const files = [];
for (let round = 0; round < ROUNDS; round++) {
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  worker.once("message", (texts) => {
    printed.push(...texts);
    // Opened when the thread has closed its own: they get the numbers of descriptors that it used.
    for (let count = 0; count < FILES; count++) {
      const path = join(directory, `${round}-${count}`);
      const fd = openSync(path, "w");
      files.push({ fd, inode: fstatSync(fd).ino });
    }
  });
  await new Promise((resolve, reject) => worker.once("exit", resolve).once("error", reject));
}
const isOpen = ({ fd, inode }) => {
  try {
    return fstatSync(fd).ino === inode;
  } catch {
    return false;
  }
};
const open = files.filter(isOpen);
for (const { fd } of open) closeSync(fd);
rmSync(directory, { recursive: true });
process.stdout.write(JSON.stringify({ printed: printed.length, files: files.length, open: open.length }));
