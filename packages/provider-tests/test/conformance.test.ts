import { describeProvider } from "@agent/testing";
import { describe, test } from "vitest";
import { SUBJECTS } from "./subjects.js";

for (const subject of SUBJECTS) describeProvider(subject, { describe, test });
