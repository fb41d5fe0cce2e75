import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { print } from "../../process/output.js";
import { editConfig } from "../../settings/config/editConfig.js";
import { removePackOption } from "../../settings/config/editPackOptions.js";
import { editableServers, type McpFlags, namedServer, PACK } from "./servers.js";

/** `agent mcp remove SERVER`: removes a server from the config and the lock, and forgets its login. */
export async function mcpRemove(
  name: string,
  flags: McpFlags & { readonly user?: boolean },
): Promise<ExitCode> {
  const place = await editableServers(flags, flags.user === true);
  const { manage, servers, file, lockFile, host } = place;
  const options = namedServer(servers, name);
  // A login belongs to an address, which another entry may have as well.
  const isShared = (url: string): boolean =>
    Object.entries(servers).some(
      ([other, found]) => other !== name && manage.isHttp(found) && found.url === url,
    );
  await editConfig(
    file,
    (text, kind) => removePackOption(text, { pack: PACK, group: "servers", key: name }, kind),
    `take "${name}" out of the servers of ${PACK}`,
  );
  const lock = manage.readLock(lockFile);
  const { [name]: _, ...rest } = lock.servers;
  await manage.writeLock(lockFile, { ...lock, servers: rest });
  const hadLogin =
    manage.isHttp(options) && !isShared(options.url) && (await host.logins.forget(options.url));
  if (flags.json) print(`${JSON.stringify({ v: 1, server: name, config: file, hadLogin }, undefined, 2)}\n`);
  else print(`${name} is removed from ${file}${hadLogin ? ", and its login is forgotten" : ""}.\n`);
  return EXIT.done;
}
