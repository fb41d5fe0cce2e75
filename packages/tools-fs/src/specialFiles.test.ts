import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { fileTools, MEMORY, makeFifo, temporaryDirectory } from "../test/support.js";

const isLinux = process.platform === "linux";
const GIGABYTE = 1024 ** 3;

test("a FIFO is refused at once by every tool that reads or writes", async () => {
  const directory = temporaryDirectory();
  const path = join(directory, "pipe");
  makeFifo(path);
  const run = fileTools();
  expect(await run("read_file", { path })).toContain("is a fifo, and only regular files can be read");
  expect(await run("edit_file", { path, old_text: "a", new_text: "b" })).toContain("is a fifo");
  expect(await run("write_file", { path, content: "x" })).toContain(
    "is a fifo, and only regular files can be written",
  );
  expect(await run("list_dir", { path })).toContain("is a fifo, not a directory");
  expect(await run("list_dir", { path: directory, details: true })).toMatch(/^fifo\t0\t.*\tpipe$/);
  expect(await run("remove", { path })).toContain("(fifo)");
});

test("a socket is refused", async () => {
  const path = join(temporaryDirectory(), "socket");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
  expect(await fileTools()("read_file", { path })).toContain("is a socket");
});

test.each(["/dev/zero", "/dev/random", "/dev/tty", "/dev/null"].filter((path) => existsSync(path)))(
  "the device %s is refused",
  async (path) => {
    expect(await fileTools()("read_file", { path })).toContain(
      "is a device, and only regular files can be read",
    );
  },
);

test.skipIf(!isLinux)(
  "kernel files are read up to the cap if they return data in time (needs /proc)",
  async () => {
    const run = fileTools({ maxReadBytes: 64 * 1024 });
    expect(await run("read_file", { path: "/proc/self/status" })).toMatch(/^Name:\t/);
    expect(await run("read_file", { path: "/proc/self/status", offset: 1, limit: 1 })).toMatch(
      /^Name:\t[^\n]*\n$/,
    );
    expect(await run("read_file", { path: "/proc/self/mem" })).toMatch(/which no tool reads/);
    const symbols = await run("read_file", { path: "/proc/kallsyms" });
    expect(symbols.length).toBeLessThan(70_000);
    const sized = await run("read_file", { path: "/sys/kernel/mm/transparent_hugepage/enabled" });
    expect(sized).toMatch(/never|no such file/);
  },
);

test.skipIf(!existsSync("/proc/kallsyms"))(
  "a file of size 0 with content is read in windows, by line and by byte (needs /proc/kallsyms)",
  async () => {
    const whole = readFileSync("/proc/kallsyms", "utf8");
    const lines = whole.split("\n").slice(0, -1);
    const run = fileTools({ maxReadBytes: 64 * 1024 });
    const path = "/proc/kallsyms";
    expect(await run("read_file", { path, offset: lines.length, limit: 1 })).toBe(`${lines.at(-1)}\n`);
    const first = await run("read_file", { path });
    expect(first).toContain(`of ${lines.length} lines are shown. To read on, call read_file with {"path"`);
    expect(await run("read_file", { path, byte_offset: whole.length - 5 })).toBe(whole.slice(-5));
    expect(await run("read_file", { path, offset: lines.length + 1 })).toContain(`has ${lines.length} lines`);
  },
);

test.skipIf(!isLinux)(
  "an edit of a file that the kernel generates is refused with that reason (needs /proc)",
  async () => {
    const edit = { path: "/proc/self/comm", old_text: "n", new_text: "m" };
    expect(await fileTools()("edit_file", edit)).toContain("is made up by the system while it is read");
  },
);

test.skipIf(!existsSync("/proc/kmsg"))(
  "/proc/kmsg never makes the tool wait (needs /proc/kmsg)",
  async () => {
    const text = await fileTools()("read_file", { path: "/proc/kmsg" });
    expect(text.length).toBeLessThan(300_000);
  },
);

test("a file of 5 GB gives windows in bounded memory, and says how large it is", {
  timeout: 120_000,
}, () => {
  // Use a file system in memory if there is one: reading holes is free there and slow on a disk.
  const directory = temporaryDirectory(MEMORY);
  const path = join(directory, "huge.log");
  const file = openSync(path, "w");
  writeSync(file, "first\nsecond\n");
  // A sparse file: five gigabytes that use no space. Reading a window near the end scans all of them.
  ftruncateSync(file, 5 * GIGABYTE);
  writeSync(file, "\nlast line\n", 5 * GIGABYTE);
  closeSync(file);
  const script = `
    import { ReadFileTool } from ${JSON.stringify(fileURLToPath(new URL("../dist/index.js", import.meta.url)))};
    const tool = new ReadFileTool();
    const path = ${JSON.stringify(path)};
    const read = (args) => tool.execute({ path, encoding: "latin1", ...args });
    const texts = [await read({ limit: 1 }), await read({ offset: 4 }), (await read({})).slice(-200)];
    console.log(JSON.stringify({ texts, peak: process.resourceUsage().maxRSS * 1024 }));`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  const { texts, peak } = JSON.parse(output);
  expect(texts[0]).toBe("first\n");
  expect(texts[1]).toBe("last line\n");
  expect(texts[2]).toContain(`of 4 lines and ${5 * GIGABYTE + 11} bytes`);
  expect(peak).toBeLessThan(250 * 1024 * 1024);
});

test("a binary file of 900 MB is reported with type and size, not read", async () => {
  const path = join(temporaryDirectory(), "disk.img");
  const file = openSync(path, "w");
  ftruncateSync(file, 900 * 1024 * 1024);
  closeSync(file);
  expect(await fileTools()("read_file", { path })).toContain(
    "is a binary file (unknown type, 943718400 bytes)",
  );
  expect(await fileTools()("edit_file", { path, old_text: "a", new_text: "b" })).toContain(
    "the most that can be changed",
  );
});

test("reading a file while it is written returns text and does not crash", async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "d"));
  const path = join(directory, "d/log");
  writeFileSync(path, "x".repeat(100));
  const run = fileTools({ maxReadBytes: 5000 });
  for (let round = 0; round < 200; round++) {
    const reading = run("read_file", { path, ...(round % 2 && { offset: 1, limit: 50 }) });
    writeFileSync(path, "line\n".repeat((round * 37) % 3000));
    expect(typeof (await reading)).toBe("string");
  }
});

test.skipIf(!isLinux)(
  "a directory that cannot be created in /proc is an error at once (needs /proc)",
  async () => {
    const run = fileTools();
    expect(await run("mkdir", { path: "/proc/self/made/deeper" })).toMatch(
      /no such file|not permitted|denied/,
    );
    expect(await run("write_file", { path: "/proc/self/made/file", content: "x" })).toMatch(
      /no such file|not permitted|denied/,
    );
  },
);

test.skipIf(!isLinux)(
  "lines of a kernel file are read by offset, and an offset past its end is an error (needs /proc)",
  async () => {
    const run = fileTools();
    expect(await run("read_file", { path: "/proc/self/status", offset: 2, limit: 1 })).toMatch(
      /^\w+:\t[^\n]*\n$/,
    );
    expect(await run("read_file", { path: "/proc/self/status", offset: 100_000 })).toContain(
      "has fewer lines",
    );
  },
);
