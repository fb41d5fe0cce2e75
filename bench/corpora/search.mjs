// The trees and files that search.mjs searches, built once into bench/.cache.
import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const CACHE = join(dirname(dirname(fileURLToPath(import.meta.url))), ".cache");
const MB = 1024 * 1024;

/** The same numbers on every machine. */
function randomNumbers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Builds `name` in a folder beside it first, so that an interrupted run leaves nothing half made. */
function once(name, build) {
  const target = join(CACHE, name);
  if (existsSync(target)) return target;
  console.log(`building the corpus ${name} …`);
  mkdirSync(CACHE, { recursive: true });
  const draft = mkdtempSync(join(CACHE, "draft-"));
  build(draft);
  renameSync(draft, target);
  return target;
}

/** Linux 6.1 from Debian's source package: 78,600 files, 1.26 GB. Needs a Debian machine, but not root. */
export function linuxTree() {
  return once("linux", (draft) => {
    execFileSync("apt-get", ["download", "linux-source-6.1"], { cwd: draft, stdio: "inherit" });
    const archive = readdirSync(draft).find((name) => name.endsWith(".deb"));
    const unpack = `dpkg-deb --fsys-tarfile ${archive} | tar -xO ./usr/src/linux-source-6.1.tar.xz | tar -xJ --strip-components=1`;
    execFileSync("bash", ["-c", unpack], { cwd: draft, stdio: "inherit" });
    rmSync(join(draft, archive));
    // Debian appends a rule that ignores everything; without it this is the upstream file.
    const ignore = join(draft, ".gitignore");
    writeFileSync(ignore, readFileSync(ignore, "utf8").replace(/#\n# Debian packaging[\s\S]*$/, ""));
    execFileSync("git", ["init", "-q"], { cwd: draft });
  });
}

/** Packages with very many files, for search_files. */
export function npmTree() {
  return once("npm", (draft) => {
    writeFileSync(join(draft, "package.json"), '{"private":true}\n');
    const packages = [
      "@mui/icons-material@5.16.7",
      "date-fns@3.6.0",
      "rxjs@7.8.1",
      "@fluentui/react-icons@2.0.258",
    ];
    const more = ["core-js@3.38.1", "typescript@5.6.3", "lodash@4.17.21", "lodash-es@4.17.21"];
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps"];
    execFileSync("npm", ["install", ...flags, ...packages, ...more], { cwd: draft, stdio: "inherit" });
  });
}

/** 100,000 files of a few lines in 1,000 directories. */
export function smallFiles() {
  return once("small", (draft) => {
    const random = randomNumbers(1);
    for (let directory = 0; directory < 1000; directory++) {
      const path = join(draft, `d${directory % 40}`, `e${directory}`);
      mkdirSync(path, { recursive: true });
      for (let file = 0; file < 100; file++) {
        const lines = Array.from(
          { length: 2 + random(20) },
          () => `value_${random(1e6)} = compute(${random(1000)})`,
        );
        if (random(200) === 0) lines.push("needle here");
        writeFileSync(
          join(path, `f${file}.${["ts", "js", "json", "md"][random(4)]}`),
          `${lines.join("\n")}\n`,
        );
      }
    }
  });
}

/** A million empty files in 10,000 directories. */
export function millionFiles() {
  return once("million", (draft) => {
    for (let directory = 0; directory < 10_000; directory++) {
      const path = join(draft, `d${directory % 100}`, `e${directory}`);
      mkdirSync(path, { recursive: true });
      for (let file = 0; file < 100; file++) {
        closeSync(openSync(join(path, `f${file}.${["ts", "js", "json", "md"][file % 4]}`), "w"));
      }
    }
  });
}

/** About 100 files, like one package of a project. */
export function smallDirectory() {
  return once("hundred", (draft) => {
    const random = randomNumbers(2);
    for (let file = 0; file < 100; file++) {
      const path = join(draft, `part${file % 8}`, `f${file}.ts`);
      mkdirSync(dirname(path), { recursive: true });
      const line = () =>
        `export const name${random(1e5)} = ${random(10) === 0 ? "needle" : "other"}(${random(100)});`;
      writeFileSync(path, `${Array.from({ length: 120 }, line).join("\n")}\n`);
    }
  });
}

/** A server log of 500 MB. */
export function log() {
  return once("log", (draft) => {
    const random = randomNumbers(3);
    const file = openSync(join(draft, "server.log"), "w");
    for (let written = 0; written < 500 * MB; ) {
      const lines = [];
      for (let i = 0; i < 5000; i++) {
        const status = random(5000) === 0 ? "ERROR timeout" : "INFO ok";
        lines.push(
          `2024-05-${10 + random(20)}T12:${10 + random(50)}:00Z host${random(9)} request id=${random(1e9)} path=/api/v${random(4)}/items/${random(1e6)} ${status}`,
        );
      }
      written += writeSync(file, `${lines.join("\n")}\n`);
    }
    closeSync(file);
  });
}

/** Minified bundles: 20 files of 4 MB in one line. */
export function oneLineFiles() {
  return once("one-line", (draft) => {
    const random = randomNumbers(4);
    for (let file = 0; file < 20; file++) {
      const parts = [];
      for (let size = 0; size < 4 * MB; ) {
        const part = `function a${random(1e6)}(b){return c(b,${random(1e4)})}`;
        parts.push(part);
        size += part.length;
      }
      parts.splice(parts.length >> 1, 0, "needleInTheMiddle();");
      writeFileSync(join(draft, `bundle${file}.min.js`), parts.join(""));
    }
  });
}
