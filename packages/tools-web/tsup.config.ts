import { packageBuild } from "../../tsup.base.ts";

// Splitting keeps what only a call needs (HTTP, the HTML parser) out of what the start of an agent loads.
export default packageBuild({ entry: ["src/index.ts"], splitting: true });
