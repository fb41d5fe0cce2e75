import { findAccessNeed } from "@agent/internal";
import { expect, test } from "vitest";
import { accessRules } from "./access.js";

test.each([
  "/run/secrets/db_password",
  "/run/secrets/kubernetes.io/serviceaccount/token",
  "/run/credentials/agent.service/key",
  "/etc/ssl/private/host.key",
  "/etc/kubernetes/admin.conf",
])("needs approval to read %s, which a container or a service was given", (path) => {
  const rules = accessRules(process.cwd(), []);
  expect(findAccessNeed(rules, "read", path)?.reason).toBe("a place of keys or credentials");
  expect(findAccessNeed(rules, "read", "/run/other")).toBeUndefined();
});
