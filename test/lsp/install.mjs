// Installs the language servers of package.json where `realServers.test.ts` looks for them. They take about 150 MB.
import { installExternal } from "../external.mjs";

installExternal(new URL("package.json", import.meta.url));
