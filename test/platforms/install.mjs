// Installs other versions of Node.js and the one for Windows, where the tests of this folder look for them: 250 MB.
import { installExternal } from "../external.mjs";

// npm refuses a package for another system otherwise.
installExternal(new URL("package.json", import.meta.url), undefined, ["--force"]);
