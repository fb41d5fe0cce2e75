import { expect, test } from "vitest";
import { isSecretName, isSecretValue, KEY_VARIABLES } from "./secretNames.js";

test.each([
  ...KEY_VARIABLES,
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "GITHUB_TOKEN",
  "GH_PAT",
  "NPM_TOKEN",
  "npm_config_//packages.example.com/:_authToken",
  "NODE_AUTH_TOKEN",
  "PGPASSWORD",
  "MYSQL_PWD",
  "DB_PASS",
  "SENTRY_DSN",
  "SLACK_WEBHOOK_URL",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "SSH_AUTH_SOCK",
  "TOKEN2",
  "AGENT_RUNS_TOKENS",
  "apiKey",
  "accessToken",
  "clientSecret",
  "authorization",
  "Proxy-Authorization",
  "x-api-key",
  "X-Authentication",
  "Set-Cookie",
  "--api-key",
])("knows %s for a secret", (name) => {
  expect(isSecretName(name)).toBe(true);
});

test.each([
  "PWD",
  "OLDPWD",
  "PATH",
  "GIT_AUTHOR_NAME",
  "GIT_AUTHOR_EMAIL",
  "XAUTHORITY",
  "TOKENIZERS_PARALLELISM",
  "maxTokens",
  "MAX_TOKENS",
  "SSL_CERT_FILE",
  "XDG_SESSION_TYPE",
  "KEYBOARD_LAYOUT",
  "npm_config_user_agent",
  "COMPASS",
  "PATTERN",
])("takes %s for no secret", (name) => {
  expect(isSecretName(name)).toBe(false);
});

test.each([
  "sk-proj-0123456789",
  "ghp_0123456789abcdef",
  "github_pat_0123456789",
  "AKIA0123456789ABCDEF",
  "eyJhbGciOiJIUzI1NiJ9.e30.x",
  "postgres://me:hunter2@db/app",
])("knows the value %s for a secret", (value) => {
  expect(isSecretValue(value)).toBe(true);
});

test.each([
  "skaffold-dev-1",
  "npmrc-location",
  "https://example.com/@scope/name",
  "me@example.com",
  "https://me:$PASSWORD@host/",
])("takes the value %s for no secret", (value) => {
  expect(isSecretValue(value)).toBe(false);
});
