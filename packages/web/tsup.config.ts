import { packageBuild } from "../../tsup.base.ts";

// One build with shared chunks: the page and the server reduce events with the same code.
export default packageBuild({
  entry: {
    index: "src/index.ts",
    react: "src/client/react.ts",
    element: "src/client/element.ts",
    server: "src/server/index.ts",
    node: "src/server/node.ts",
  },
});
