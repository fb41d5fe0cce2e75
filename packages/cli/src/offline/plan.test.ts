import type { ChatTool } from "@agent/core";
import { functionTool } from "@agent/core/toolkit";
import { describe, expect, test } from "vitest";
import { planRequest } from "./plan.js";

const string = { type: "string" };
const TOOLS: readonly ChatTool[] = [
  functionTool("word_count", "Count words.", { path: string }),
  functionTool(
    "send_mail",
    "Send mail.",
    { to: string, count: { type: "integer" }, urgent: { type: "boolean" } },
    ["count", "urgent"],
  ),
  functionTool("move", "Move.", { source: string, destination: string, overwrite: { type: "boolean" } }, [
    "overwrite",
  ]),
  functionTool("remove", "Remove.", { path: string }),
  functionTool("mkdir", "Make a directory.", { path: string }),
  functionTool("ping", "No arguments.", {}),
];

/** Each call as `tool key=value …`, steps joined by " > ", calls of one step by " & ". */
function understood(request: string): string {
  const plan = planRequest(request, TOOLS);
  if (plan.kind !== "steps") return plan.kind;
  return plan.steps
    .map((step) => step.map(({ tool, args }) => [tool, JSON.stringify(args)].join(" ")).join(" & "))
    .join(" > ");
}

const PHRASES: readonly (readonly [request: string, meaning: string])[] = [
  // list
  ["list files", 'list_dir {"path":"."}'],
  ["ls", 'list_dir {"path":"."}'],
  ["List the files here.", 'list_dir {"path":"."}'],
  ["list src", 'list_dir {"path":"src"}'],
  ["list ..", 'list_dir {"path":".."}'],
  ["please list the files in src", 'list_dir {"path":"src"}'],
  ["show me the files in the src directory", 'list_dir {"path":"src"}'],
  ["list the current directory", 'list_dir {"path":"."}'],
  ["list everything in packages/core", 'list_dir {"path":"packages/core"}'],
  ["what's in src?", 'list_dir {"path":"src"}'],
  ["what's in .?", 'list_dir {"path":"."}'],
  ["what's in ..?", 'list_dir {"path":".."}'],
  ["what is in this directory?", 'list_dir {"path":"."}'],
  ["what files are here?", 'list_dir {"path":"."}'],
  ["which files are in docs", 'list_dir {"path":"docs"}'],
  ["ls -la src", 'list_dir {"path":"src","details":true}'],
  ["list src with details", 'list_dir {"path":"src","details":true}'],
  ['list "my folder"', 'list_dir {"path":"my folder"}'],
  // read
  ["read README.md", 'read_file {"path":"README.md"}'],
  ["Read the file package.json.", 'read_file {"path":"package.json"}'],
  ["cat a.txt", 'read_file {"path":"a.txt"}'],
  ["can you show me package.json?", 'read_file {"path":"package.json"}'],
  ["show me the contents of src/index.ts", 'read_file {"path":"src/index.ts"}'],
  ["what's in package.json?", 'read_file {"path":"package.json"}'],
  ["what does LICENSE say?", 'read_file {"path":"LICENSE"}'],
  ["read Makefile", 'read_file {"path":"Makefile"}'],
  ["open 'a file.txt'", 'read_file {"path":"a file.txt"}'],
  ["read lines 10-20 of a.txt", 'read_file {"path":"a.txt","offset":10,"limit":11}'],
  ["show lines 3 to 4 of a.txt", 'read_file {"path":"a.txt","offset":3,"limit":2}'],
  ["show me the first 5 lines of a.txt", 'read_file {"path":"a.txt","offset":1,"limit":5}'],
  ["read a.txt from line 12", 'read_file {"path":"a.txt","offset":12}'],
  ["head a.txt", 'read_file {"path":"a.txt","offset":1,"limit":10}'],
  ["read a.txt and b.txt", 'read_file {"path":"a.txt"} & read_file {"path":"b.txt"}'],
  // find files
  ["find *.ts", 'search_files {"pattern":"**/*.ts"}'],
  ["find all ts files", 'search_files {"pattern":"**/*.ts"}'],
  ["find all .md files in docs", 'search_files {"pattern":"**/*.md","path":"docs"}'],
  ["list all typescript files in src", 'search_files {"pattern":"**/*.{ts,tsx,mts,cts}","path":"src"}'],
  ["find files named foo.txt", 'search_files {"pattern":"**/foo.txt"}'],
  ["find the file package.json", 'search_files {"pattern":"**/package.json"}'],
  ["where is package.json?", 'search_files {"pattern":"**/package.json"}'],
  ["find files matching src/**/*.test.ts", 'search_files {"pattern":"src/**/*.test.ts"}'],
  ["find files ending in .yaml", 'search_files {"pattern":"**/*.yaml"}'],
  // search text
  ["search for TODO", 'search_text {"query":"TODO","paths":["."]}'],
  ["search for TODO in src", 'search_text {"query":"TODO","paths":["src"]}'],
  ["search src for TODO", 'search_text {"query":"TODO","paths":["src"]}'],
  ["grep TODO src", 'search_text {"query":"TODO","paths":["src"]}'],
  ["grep TODO", 'search_text {"query":"TODO","paths":["."]}'],
  ['find "hello world" in docs', 'search_text {"query":"hello world","paths":["docs"]}'],
  ["find TODO in src", 'search_text {"query":"TODO","paths":["src"]}'],
  ["search for foo bar in src", 'search_text {"query":"foo bar","paths":["src"]}'],
  ["search for todo in src ignoring case", 'search_text {"query":"todo","paths":["src"],"ignore_case":true}'],
  ["search for the regex a+b in src", 'search_text {"query":"a+b","paths":["src"],"regex":true}'],
  [
    "which files contain registerPack?",
    'search_text {"query":"registerPack","paths":["."],"files_only":true}',
  ],
  ["what files have TODO in them", 'search_text {"query":"TODO","paths":["."],"files_only":true}'],
  [
    "how many files mention 'foo' in src?",
    'search_text {"query":"foo","paths":["src"],"files_only":true,"max_results":10000}',
  ],
  ["list all files containing TODO", 'search_text {"query":"TODO","paths":["."],"files_only":true}'],
  ["search for todo ignoring case in src", 'search_text {"query":"todo","paths":["src"],"ignore_case":true}'],
  ["search for todo in src ignoring case", 'search_text {"query":"todo","paths":["src"],"ignore_case":true}'],
  ['search for TODO in "my notes"', 'search_text {"query":"TODO","paths":["my notes"]}'],
  ["search for TODO in my notes", "declined"],
  ["can you show me what's in README.md", 'read_file {"path":"README.md"}'],
  ["read `README.md`, please", 'read_file {"path":"README.md"}'],
  ["read README.md, thank you!", 'read_file {"path":"README.md"}'],
  ["read my notes/to do.txt", "declined"],
  ["remove the file new.txt.", 'remove {"path":"new.txt"}'],
  ["remove new.txt.", 'remove {"path":"new.txt"}'],
  ["remove everything in src", "declined"],
  ["remove all the old files", "declined"],
  ["mkdir the folder docs", "declined"],
  ["could you please make a folder called docs?", 'mkdir {"path":"docs"}'],
  ["count the lines in a.ts", "declined"],
  ["how many files are there?", 'search_files {"pattern":"**/*","max_results":10000}'],
  [
    '1. write "c" to s.txt 2. read s.txt',
    'write_file {"path":"s.txt","content":"c"} > read_file {"path":"s.txt"}',
  ],
  ["1) list files\n2) read a.txt", 'list_dir {"path":"."} > read_file {"path":"a.txt"}'],
  ["read version 2. of a.txt", "declined"],
  ["thanks", "help"],
  ["where is registerPack used?", 'search_text {"query":"registerPack","paths":["."]}'],
  ["find all occurrences of foo in src", 'search_text {"query":"foo","paths":["src"]}'],
  ['search for "a then b" in src', 'search_text {"query":"a then b","paths":["src"]}'],
  // write
  ['write "hello" to notes.txt', 'write_file {"path":"notes.txt","content":"hello"}'],
  ["write hello world to notes.txt", 'write_file {"path":"notes.txt","content":"hello world"}'],
  ['create a file called a.txt with "some text"', 'write_file {"path":"a.txt","content":"some text"}'],
  ["create notes.md containing one line", 'write_file {"path":"notes.md","content":"one line"}'],
  ['save "x" as y.txt', 'write_file {"path":"y.txt","content":"x"}'],
  ['put "x" into y.txt', 'write_file {"path":"y.txt","content":"x"}'],
  ['write "a then b" to c.txt', 'write_file {"path":"c.txt","content":"a then b"}'],
  // edit
  ['replace "foo" with "bar" in a.txt', 'edit_file {"path":"a.txt","old_text":"foo","new_text":"bar"}'],
  ["change foo to bar in a.txt", 'edit_file {"path":"a.txt","old_text":"foo","new_text":"bar"}'],
  [
    "replace all foo with bar in a.txt",
    'edit_file {"path":"a.txt","old_text":"foo","new_text":"bar","replace_all":true}',
  ],
  ["in a.txt, replace foo with bar", 'edit_file {"path":"a.txt","old_text":"foo","new_text":"bar"}'],
  ['edit a.txt: replace "foo" with "bar"', 'edit_file {"path":"a.txt","old_text":"foo","new_text":"bar"}'],
  ['delete "foo" from a.txt', 'edit_file {"path":"a.txt","old_text":"foo","new_text":""}'],
  // make, move, remove
  ["make a directory called out", 'mkdir {"path":"out"}'],
  ["create the folder a/b", 'mkdir {"path":"a/b"}'],
  ["mkdir -p a/b/c", 'mkdir {"path":"a/b/c"}'],
  ["move a.txt to b.txt", 'move {"source":"a.txt","destination":"b.txt"}'],
  ["rename the file a.txt to b.txt", 'move {"source":"a.txt","destination":"b.txt"}'],
  ["mv a.txt b", 'move {"source":"a.txt","destination":"b"}'],
  ["move a.txt to b.txt and overwrite it", 'move {"source":"a.txt","destination":"b.txt","overwrite":true}'],
  ["remove a.txt", 'remove {"path":"a.txt"}'],
  ["delete the folder build", 'remove {"path":"build"}'],
  ["rm -rf build", 'remove {"path":"build"}'],
  // run
  ["run npm test", 'run_bash {"command":"npm test"}'],
  ["run `npm test`", 'run_bash {"command":"npm test"}'],
  ['execute "ls | wc -l"', 'run_bash {"command":"ls | wc -l"}'],
  ["run the command git status", 'run_bash {"command":"git status"}'],
  ["$ echo hi", 'run_bash {"command":"echo hi"}'],
  ['run "npm test" in packages/core', 'run_bash {"command":"npm test","cwd":"packages/core"}'],
  ['run "sleep 9" with a timeout of 2 seconds', 'run_bash {"command":"sleep 9","timeout":2000}'],
  ["run `if true; then echo yes; fi`", 'run_bash {"command":"if true; then echo yes; fi"}'],
  // session
  ["save the session", 'save_session_context {"reason":"asked for by the user"}'],
  ["save this conversation because we are done", 'save_session_context {"reason":"we are done"}'],
  // third-party tools
  ["word_count path=a.txt", 'word_count {"path":"a.txt"}'],
  ['word_count path="my file.txt"', 'word_count {"path":"my file.txt"}'],
  ['call word_count with {"path": "a.txt"}', 'word_count {"path":"a.txt"}'],
  ["word count a.txt", 'word_count {"path":"a.txt"}'],
  ["send_mail to=me count=3 urgent=true", 'send_mail {"to":"me","count":3,"urgent":true}'],
  ["use the tool ping", "ping {}"],
  ["move source=a destination=b", 'move {"source":"a","destination":"b"}'],
  // several steps
  ["list src then read src/a.ts", 'list_dir {"path":"src"} > read_file {"path":"src/a.ts"}'],
  [
    "make a directory out, then move a.txt to out, then list out",
    'mkdir {"path":"out"} > move {"source":"a.txt","destination":"out"} > list_dir {"path":"out"}',
  ],
  [
    'write "hi" to a.txt and then read it',
    'write_file {"path":"a.txt","content":"hi"} > read_file {"path":"a.txt"}',
  ],
  ["read a.txt and list src", 'read_file {"path":"a.txt"} > list_dir {"path":"src"}'],
  [
    "move a.txt to b.txt then delete it",
    'move {"source":"a.txt","destination":"b.txt"} > remove {"path":"b.txt"}',
  ],
  // help
  ["what can you do?", "help"],
  ["help", "help"],
  ["Hello!", "help"],
  // not understood: nothing is done
  ["", "declined"],
  ["explain quantum mechanics", "declined"],
  ["write a poem", "declined"],
  ["don't delete a.txt", "declined"],
  ["do not run rm -rf /", "declined"],
  ["never remove build", "declined"],
  ["should I delete a.txt?", "declined"],
  ["how do I remove a.txt?", "declined"],
  ["delete everything", "declined"],
  ["remove all files", "declined"],
  ["remove it", "declined"],
  ["delete a.txt unless it is new", "declined"],
  ["if a.txt exists delete it", "declined"],
  ["run the tests", "declined"],
  ["run it", "declined"],
  ["show me how to cook", "declined"],
  ["read my mind", "declined"],
  ["search the web for cats", "declined"],
  ["search for cats on the internet", "declined"],
  ["create a.txt", "declined"],
  ["touch a.txt", "declined"],
  ['append "x" to a.txt', "declined"],
  ["copy a.txt to b.txt", "declined"],
  ["replace a with b with c in d.txt", "declined"],
  ["list src then dance", "declined"],
  ["find all big files", "declined"],
  ["send_mail count=3", "declined"],
  ["word_count size=3", "declined"],
];

describe("plain requests", () => {
  test.each(PHRASES)("%s", (request, meaning) => {
    expect(understood(request)).toBe(meaning);
  });

  test("makes no call at all for a request that is understood in part", () => {
    expect(planRequest("list src then dance", TOOLS)).toEqual({ kind: "declined", part: "dance" });
  });

  test("reads forty steps quickly, even if the last of them makes no sense", () => {
    const steps = Array.from({ length: 40 }, (_, index) => `word_count f${index}`);
    expect(planRequest(`${steps.join(" and ")} size=3`, TOOLS)).toMatchObject({ kind: "declined" });
  });

  test("answers a tool call with a missing argument with how to call it", () => {
    expect(planRequest("send_mail count=3", TOOLS)).toMatchObject({
      hint: "Say: send_mail to=… [count=…] [urgent=…]",
    });
  });
});
