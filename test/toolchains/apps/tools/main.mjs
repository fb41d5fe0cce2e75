import { runTools } from "./tools.mjs";

runTools().then((text) => console.log(text));
