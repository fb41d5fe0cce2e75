import { packageTests } from "../../vitest.base.ts";
import { bundledTestPlugin } from "./build/bundled.ts";
import { watTestPlugin } from "./build/wat.ts";

export default { ...packageTests(), plugins: [watTestPlugin, bundledTestPlugin] };
