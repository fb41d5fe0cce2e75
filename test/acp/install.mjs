// Installs the client and the agent of package.json where the tests look for them. They weigh 330 MB, most of it Node 22.
import { installExternal } from "../external.mjs";

installExternal(new URL("package.json", import.meta.url));
