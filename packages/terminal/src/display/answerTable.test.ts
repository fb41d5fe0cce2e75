import { describe, expect, test } from "vitest";
import { PLAIN_STYLE } from "../text/style.js";
import { AnswerStream } from "./answerStream.js";

const TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n";
const DRAWN = ["┌───┬───┐", "│ a │ b │", "├───┼───┤", "│ 1 │ 2 │", "└───┴───┘"];

describe("a table in an answer", () => {
  test("is drawn while it is written, and once when it has ended", () => {
    const answer = new AnswerStream(PLAIN_STYLE);
    answer.add(`before\n${TABLE}`);
    expect(answer.frame(40, 20)).toEqual({ above: ["before"], rows: DRAWN, isWhole: true });
    answer.add("after\n");
    expect(answer.frame(40, 20)).toEqual({ above: [...DRAWN, "after"], rows: [], isWhole: true });
    expect(answer.finish(40)).toEqual([]);
  });

  test("is drawn at the end of an answer too, whole or in small pieces", () => {
    const answer = new AnswerStream(PLAIN_STYLE);
    for (const piece of TABLE.trimEnd()) answer.add(piece);
    expect(answer.finish(40)).toEqual(DRAWN);
  });

  test("is not made of a line with bars that is not a table", () => {
    const answer = new AnswerStream(PLAIN_STYLE);
    answer.add("| a pipe\ntext\n```\n| in | code |\n|---|---|\n```\n");
    expect(answer.finish(40)).toEqual(["| a pipe", "text", "```", "| in | code |", "|---|---|", "```"]);
  });

  test("is no taller than the screen while it is written, and leaves whole", () => {
    const answer = new AnswerStream(PLAIN_STYLE);
    answer.add(`| n |\n|---|\n${Array.from({ length: 50 }, (_, at) => `| ${at} |\n`).join("")}`);
    const first = answer.frame(40, 10);
    expect(first.rows).toHaveLength(10);
    expect(first.isWhole).toBe(false);
    answer.add("end\n");
    const { above, rows } = answer.frame(40, 10);
    expect([...above, ...rows]).toHaveLength(55);
  });
});
