// A Postgres and a Redis of the bench's own, in a temporary folder on loopback ports, gone when the process ends.
import { execFileSync, spawn } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const VERSIONS = "/usr/lib/postgresql";

/** Starts both and resolves to their addresses and what ends them. */
export async function startServers() {
  const folder = mkdtempSync(join(tmpdir(), "agent-bench-"));
  const bin = join(
    VERSIONS,
    readdirSync(VERSIONS)
      .sort((a, b) => a - b)
      .at(-1),
    "bin",
  );
  const data = join(folder, "postgres");
  mkdirSync(data);
  const isRoot = process.getuid() === 0;
  // Postgres refuses to run as root.
  if (isRoot) {
    const id = (flag) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
    execFileSync("chmod", ["755", folder]);
    chownSync(data, id("-u"), id("-g"));
  }
  const asPostgres = (...command) =>
    isRoot
      ? execFileSync("setpriv", ["--reuid=postgres", "--regid=postgres", "--clear-groups", ...command], {
          stdio: "ignore",
        })
      : execFileSync(command[0], command.slice(1), { stdio: "ignore" });
  const [postgresPort, redisPort] = [await freePort(), await freePort()];
  asPostgres(join(bin, "initdb"), "-D", join(data, "data"), "-A", "trust", "-U", "postgres");
  const options = `-p ${postgresPort} -k ${data} -c listen_addresses=127.0.0.1`;
  asPostgres(
    join(bin, "pg_ctl"),
    "-D",
    join(data, "data"),
    "-l",
    join(data, "log"),
    "-w",
    "-o",
    options,
    "start",
  );
  const redis = spawn(
    "redis-server",
    ["--port", String(redisPort), "--bind", "127.0.0.1", "--save", "", "--dir", folder],
    {
      stdio: "ignore",
    },
  );
  return {
    postgres: `postgres://postgres@127.0.0.1:${postgresPort}/postgres`,
    redis: `redis://127.0.0.1:${redisPort}`,
    stop() {
      redis.kill();
      asPostgres(join(bin, "pg_ctl"), "-D", join(data, "data"), "-m", "immediate", "stop");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
