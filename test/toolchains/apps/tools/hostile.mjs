// A model's regular expression that backtracks without end on the file's only line.
import { searchTextTool } from "@agent/tools-search";

searchTextTool()
  .execute({ query: "(?=(x+x+)+y)", regex: true, paths: [process.argv[2]] })
  .then(console.log, (error) => console.log(error.message));
