import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import type { Sandbox } from "./agent.js";
import { serve } from "./servers.js";

export const NAME = "agent-pack-greeter";

/** An npm registry with one package, of which a test publishes versions. */
export class NpmRegistry {
  readonly requests: IncomingMessage[] = [];
  /** The folder of the version that was published last. */
  folder = "";
  /** The environment that npm needs. */
  env: { readonly npm_config_registry: string; readonly npm_config_update_notifier: string } = {
    npm_config_registry: "",
    npm_config_update_notifier: "false",
  };
  readonly #versions = new Map<string, { readonly manifest: object; readonly tarball: Buffer }>();
  readonly #box: Sandbox;

  private constructor(box: Sandbox) {
    this.#box = box;
  }

  static async start(box: Sandbox): Promise<NpmRegistry> {
    const registry = new NpmRegistry(box);
    const { origin } = await serve((request, response) => {
      registry.requests.push(request);
      const body = registry.#answer(request.url ?? "", origin);
      response.statusCode = body === undefined ? 404 : 200;
      if (!Buffer.isBuffer(body)) response.setHeader("content-type", "application/json");
      response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body ?? {}));
    });
    registry.env = { ...registry.env, npm_config_registry: origin };
    return registry;
  }

  publish(version: string, files: Readonly<Record<string, string>>, more: object = {}): void {
    const manifest = {
      name: NAME,
      version,
      type: "module",
      exports: "./index.js",
      keywords: ["agent-pack"],
      description: "Says hello",
      scripts: { postinstall: "touch ran" },
      ...more,
    };
    const parent = join(this.#box.root, `version-${version}`);
    this.folder = join(parent, "package");
    mkdirSync(this.folder, { recursive: true });
    for (const [path, text] of Object.entries({ "package.json": JSON.stringify(manifest), ...files })) {
      writeFileSync(join(this.folder, path), text);
    }
    const archive = join(parent, "package.tgz");
    execFileSync("tar", ["-czf", archive, "-C", parent, "package"]);
    this.#versions.set(version, { manifest, tarball: readFileSync(archive) });
  }

  #answer(url: string, origin: string): Buffer | object | undefined {
    const [, version] = /-([\d.]+)\.tgz$/.exec(url) ?? [];
    if (version !== undefined) return this.#versions.get(version)?.tarball;
    const latest = [...this.#versions.keys()].at(-1) ?? "";
    if (url.startsWith("/-/v1/search")) {
      const { manifest } = this.#versions.get(latest) ?? {};
      const found = [manifest, { ...manifest, name: "left-pad", keywords: [] }];
      const about = { date: "2026-01-01", links: {}, maintainers: [] };
      return { objects: found.map((one) => ({ package: { ...one, ...about } })), total: 2 };
    }
    if (url !== `/${NAME}`) return undefined;
    const versions = [...this.#versions].map(([number, { manifest, tarball }]) => {
      const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
      const dist = { tarball: `${origin}/${NAME}-${number}.tgz`, integrity, unpackedSize: 2048 };
      return [number, { _npmUser: { name: "alice", email: "alice@example.com" }, ...manifest, dist }];
    });
    const time = Object.fromEntries(
      [...this.#versions.keys()].map((number) => [number, "2026-03-01T00:00:00Z"]),
    );
    return { name: NAME, "dist-tags": { latest }, versions: Object.fromEntries(versions), time };
  }
}
