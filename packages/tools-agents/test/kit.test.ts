import { describePack } from "@agent/testing";
import { describe, test } from "vitest";

// Without samples: both tools need an agent that calls them. agents.test.ts has one.
describePack(import.meta.resolve("@agent/tools-agents"), { describe, test });
