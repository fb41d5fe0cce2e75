import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { print } from "../../process/output.js";
import { editConfig } from "../../settings/config/editConfig.js";
import { removePackOption } from "../../settings/config/editPackOptions.js";
import { editableServers, type McpFlags, PACK, selectServers } from "./servers.js";

/** `agent mcp remove SERVER`: takes a server out of the config and the lock, and forgets its login. */
export async function mcpRemove(
  name: string,
  flags: McpFlags & { readonly user?: boolean },
): Promise<ExitCode> {
  const place = await editableServers(flags, flags.user === true);
  const { manage, servers, file, lockFile, host } = place;
  const [[, options] = []] = selectServers(servers, name);
  if (options === undefined) throw new CliError(`the config has no MCP server "${name}".`);
  const isOurs = (other: string): boolean => {
    const found = servers[other];
    return (
      other !== name &&
      found !== undefined &&
      manage.isHttp(found) &&
      manage.isHttp(options) &&
      found.url === options.url
    );
  };
  await editConfig(
    file,
    (text, kind) => removePackOption(text, { pack: PACK, group: "servers", key: name }, kind),
    `take "${name}" out of the servers of ${PACK}`,
  );
  const { [name]: _, ...rest } = manage.readLock(lockFile).servers;
  await manage.writeLock(lockFile, { lockVersion: 1, servers: rest });
  // A login belongs to an address, which another entry may have as well.
  const isShared = Object.keys(servers).some(isOurs);
  const hadLogin = manage.isHttp(options) && !isShared && (await host.logins.forget(options.url));
  if (flags.json) print(`${JSON.stringify({ v: 1, server: name, config: file, hadLogin }, undefined, 2)}\n`);
  else print(`${name} is taken out of ${file}${hadLogin ? ", and its login is forgotten" : ""}.\n`);
  return EXIT.done;
}
