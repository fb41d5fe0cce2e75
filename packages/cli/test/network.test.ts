import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { type BuiltChat, useBuiltChat } from "./builtChat.js";
import { runBash } from "./chatTerminal.js";
import { hasTmux } from "./terminal.js";

// As the sandbox is looked for, without what PATH says.
const canSandbox =
  spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-net", "true"]).status === 0 &&
  spawnSync("curl", ["--version"]).status === 0;

/** A name that never resolves: what the proxy answers says whether it was allowed. */
const ALLOWED = "the name cannot be resolved";
const visit = (host: string): string => runBash(`curl -s http://${host}/`);

describe.skipIf(!hasTmux || !canSandbox)(
  "hosts of commands (skipped without tmux, bubblewrap and curl)",
  () => {
    const start = useBuiltChat();

    async function project(): Promise<BuiltChat> {
      const built = await start();
      const pack = ["@agent/tools-bash", { sandbox: { network: { hosts: [] } } }];
      const config = { packs: [pack], enable: ["run_bash"], mode: "auto" };
      built.box.write("agent.config.json", JSON.stringify(config));
      return built;
    }

    test("asks in the chat, remembers the answer for the project, and revokes it", async () => {
      const { box, chat, model } = await project();
      const terminal = await chat(["--trust"]);
      terminal.send(visit("one.invalid"));
      await terminal.until(
        /\? A command in the sandbox asks:\n│ It wants to connect to one\.invalid, port 80\.\n│ Command: curl/,
      );
      // Enter alone refuses.
      await terminal.until("❯ no, refuse");
      terminal.press("Enter");
      await terminal.until("the user did not allow it");
      terminal.press("C-l");
      terminal.send(visit("two.invalid"));
      await terminal.until("❯ no, refuse");
      terminal.press("Down", "Down", "Down");
      await terminal.until("❯ yes, in this project");
      terminal.press("Enter");
      await terminal.until(ALLOWED);
      terminal.press("C-l");
      terminal.send("/permissions");
      await terminal.until(/1 {2}net\.connect\(two\.invalid\) {2}in this project/);
      // The grant holds without a terminal, and for no other host.
      const task = [visit("two.invalid"), visit("three.invalid")].join("\n");
      expect(await box.run(["--trust", task], { env: model.env })).toMatchObject({ code: 0 });
      expect(model.lastRequest).toContain(ALLOWED);
      expect(model.lastRequest).toMatch(
        /three\.invalid:80 is refused.*no one answered\. Add .*three\.invalid.* to sandbox\.network\.hosts/,
      );
      terminal.send("/permissions revoke 1");
      await terminal.until("net.connect(two.invalid) asks again from now on.");
      terminal.send(visit("two.invalid"));
      await terminal.until("❯ no, refuse");
    });

    test("refuses the connection when the question is closed, and the command continues", async () => {
      const { chat } = await project();
      const terminal = await chat(["--trust"]);
      terminal.send(visit("one.invalid"));
      await terminal.until("❯ no, refuse");
      terminal.press("Escape");
      await terminal.until(/not answered[\s\S]*one\.invalid:80 is refused[\s\S]*└ ✓ exit code 0/);
    });

    test("asks on the terminal during a task, and takes anything but a clear answer for no", async () => {
      const { run, model } = await project();
      const ask = async (answer: string): Promise<string> => {
        const terminal = run(["--trust", [visit("one.invalid"), "then say the end"].join("\n")]);
        await terminal.until(/It wants to connect to one\.invalid, port 80\.[\s\S]*Allow it\? \[o\]nce/);
        terminal.send(answer);
        await terminal.until("[status 0]");
        return model.lastRequest;
      };
      expect(await ask("o")).toContain(ALLOWED);
      expect(await ask("maybe")).toContain("the user did not allow it");
    });
  },
);
