import { packageBuild } from "../../tsup.base.ts";

// Splitting keeps code that only a call needs (HTTP, the HTML parser) out of the start of an agent.
export default packageBuild({ entry: ["src/index.ts"], splitting: true });
