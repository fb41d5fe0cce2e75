/** What hosts need beyond `Agent`: programs that decide about calls and show them. `@agent/core/host`. */
export { isWithinShown } from "./tools/callDescription.js";
