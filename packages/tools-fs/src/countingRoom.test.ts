import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../test/support.js";
import { type CountingRoom, fastRoom, inCountingRoom, plainRoom, ROOM_BYTES } from "./countingRoom.js";

const PACK = new URL("../dist/index.js", import.meta.url).href;

/** Fills a room with every byte value in no order, and compares its counts with the plainest way to count. */
function compare(room: CountingRoom): void {
  for (let at = 0; at < 5000; at++) room.bytes[at] = (at * 7919) % 256;
  for (const start of [0, 1, 15, 16, 17, 100]) {
    for (const length of [0, 1, 15, 16, 17, 31, 32, 33, 1000, 4096]) {
      const expected = room.bytes.subarray(start, start + length).filter((byte) => byte === 10).length;
      expect(room.count(start, start + length)).toBe(expected);
    }
  }
  room.bytes.fill(10);
  expect(room.count(0, ROOM_BYTES)).toBe(ROOM_BYTES);
  expect(room.count(ROOM_BYTES - 17, ROOM_BYTES)).toBe(17);
}

test("newlines are counted right at every length and alignment, to the last byte", () => {
  for (const room of [fastRoom(), plainRoom()]) compare(room);
});

test("two at a time never share a room, and one is used again", async () => {
  await inCountingRoom(async (first) => {
    await inCountingRoom(async (second) => expect(second.bytes === first.bytes).toBe(false));
  });
  const rooms: CountingRoom[] = [];
  for (let round = 0; round < 2; round++) await inCountingRoom(async (room) => void rooms.push(room));
  expect(rooms[0] === rooms[1]).toBe(true);
});

test("without WebAssembly lines are found all the same", () => {
  const path = join(temporaryDirectory(), "a.txt");
  writeFileSync(path, "line\n".repeat(1_000_000));
  const script = `
    import { ReadFileTool } from ${JSON.stringify(PACK)};
    const tool = new ReadFileTool();
    const found = await tool.execute({ path: ${JSON.stringify(path)}, offset: 999_999 });
    const past = await tool.execute({ path: ${JSON.stringify(path)}, offset: 2e6 }).catch(String);
    console.log(JSON.stringify([typeof WebAssembly, found, past]));`;
  const output = execFileSync(process.execPath, ["--jitless", "--input-type=module", "-e", script]);
  const [kind, found, past] = JSON.parse(output.toString());
  expect([kind, found]).toEqual(["undefined", "line\nline\n"]);
  expect(past).toContain("has 1000000 lines");
});
