import { expect, test } from "vitest";

test("exports the documented public API", async () => {
  const names = async (module: Promise<object>): Promise<string[]> => Object.keys(await module).sort();
  expect(await names(import("./index.js"))).toEqual([
    "EMPTY_CHAT",
    "chatStateOf",
    "createChatClient",
    "reduceChat",
  ]);
  expect(await names(import("./server/index.js"))).toEqual([
    "browserCookie",
    "createChatHandlers",
    "runChat",
  ]);
  expect(await names(import("./server/node.js"))).toEqual(["toNodeListener"]);
  expect(await names(import("./client/react.js"))).toEqual(["useChat"]);
});
