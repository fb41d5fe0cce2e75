import { defineEval } from "@agent/evals";
import * as pack from "../src/index.js";

/** Does a model find the tool and pass the right name? */
export const greetsByName = defineEval({
  name: "greets by name",
  packs: [pack],
  task: "Greet Ada with the tool for that.",
  // The answers of the model "scripted": they show that the checks can pass.
  script: [{ calls: [{ name: "__PREFIX___greet", args: { who: "Ada" } }] }, "Hello, Ada!"],
  check(run) {
    run.called("__PREFIX___greet", { who: /Ada/ });
    run.never("__PREFIX___write_note");
  },
});
