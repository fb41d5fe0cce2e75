import { expect, test } from "vitest";
import { AnswerBuilder } from "./builder.js";

const MEGABYTE = "s".repeat(1024 * 1024);

/** What a provider keeps for its next request, added until the builder refuses. */
const ADDITIONS: readonly [string, (answer: AnswerBuilder) => void][] = [
  ["values of the provider", (answer) => answer.addOwn({ signature: MEGABYTE })],
  ["companions of calls", (answer) => answer.addCall("id", "name", { signature: MEGABYTE })],
  [
    "companions of texts",
    (answer) => {
      answer.addText("x");
      answer.endText({ signature: MEGABYTE });
    },
  ],
];

test.each(ADDITIONS)("counts %s like text: a server cannot fill the session file with them", (_name, add) => {
  const answer = new AnswerBuilder("m", {});
  const fill = (): void => {
    for (let count = 0; count < 100; count++) add(answer);
  };
  expect(fill).toThrow("the answer has more than 16777216 characters");
});
