// Installs the suites and servers of package.json where the tests here look for them. They weigh 340 MB.
import { installExternal } from "../external.mjs";

installExternal(new URL("package.json", import.meta.url));
