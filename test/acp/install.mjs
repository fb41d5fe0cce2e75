// Installs the client of package.json where `acpx.test.ts` looks for it. It weighs 230 MB, most of it Node 22.
import { installExternal } from "../external.mjs";

installExternal(new URL("package.json", import.meta.url));
