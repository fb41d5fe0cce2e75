import pg from "pg";
import { onTestFinished } from "vitest";

/** The Postgres in which tests may create schemas, and the Redis. `.ci/run` starts both. */
export const POSTGRES_URL = process.env.AGENT_TEST_POSTGRES ?? "";
export const REDIS_URL = process.env.AGENT_TEST_REDIS ?? "";
export const withServers = POSTGRES_URL !== "" && REDIS_URL !== "";

if (!withServers) {
  process.stdout.write(
    "Skipped: tests of @agent/durable/bullmq. Set AGENT_TEST_POSTGRES and AGENT_TEST_REDIS to the addresses of servers.\n",
  );
}

/** A schema for the test, dropped after it. */
export async function testSchema(): Promise<{ postgres: string; schema: string }> {
  const schema = `test_${crypto.randomUUID().slice(0, 8)}`;
  onTestFinished(async () => {
    await query(`drop schema if exists ${schema} cascade; drop schema if exists ${schema}_queue cascade`);
  });
  return { postgres: POSTGRES_URL, schema };
}

/** One statement, on its own connection. */
export async function query(text: string, address = POSTGRES_URL): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(address);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
