import { packageBuild } from "../../tsup.base.ts";

export default packageBuild({ entry: ["src/index.ts", "src/manage/index.ts", "src/server/index.ts"] });
