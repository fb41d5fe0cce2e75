import { rule, text } from "../grammar.js";
import type { RequestRule } from "../types.js";

export const SESSION_RULES: readonly RequestRule[] = [
  rule(
    `save(?: the| this| our| my)?(?: current)? (?:session|conversation|chat|context)(?: context)?(?:(?: because|:| since|,) ${text("reason")})?`,
    (words) => ({
      tool: "save_session_context",
      args: { reason: words.get("reason") || "asked for by the user" },
    }),
  ),
];

/** "What can you do?" and the ways to ask it. */
export const HELP_RULE = rule(
  "(?:help(?: me)?|\\?|hi|hello|hey|good (?:morning|evening|afternoon)|hi there|thanks|thank you(?: very much)?|what can you do(?: for me)?|what can i (?:ask|say|do)(?: you)?(?: here)?|what do you (?:do|know|understand)|how (?:does this|do you) work|who are you|what are you|(?:what|which) (?:tools|commands|actions) (?:do you have|are there|can you use|are available)|(?:list|show)(?: me)?(?: the| your| all)*(?: available)? (?:tools|commands))",
  () => undefined,
);
