// Sends the agent's requests to the model's server with the key, which the agent never has. The key is read from
// standard input, not from the environment, which other processes of the same user can read.

import { writeFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

const KEY_HEADERS = ["authorization", "x-api-key", "x-goog-api-key"];
const NOT_FORWARDED = ["host", "connection", "proxy-authorization", "cookie", ...KEY_HEADERS];

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { key, header, upstream, token, file, lifetimeMs } = JSON.parse(Buffer.concat(chunks).toString("utf8"));
const target = new URL(upstream);

/** The token identifies the agent: any program on the machine can connect to the port. */
function isAgent({ headers }) {
  return KEY_HEADERS.some((name) => headers[name]?.replace(/^Bearer /, "") === token);
}

const server = createServer((request, response) => {
  if (!isAgent(request)) return void response.writeHead(401).end();
  if (request.method === "DELETE" && request.url === "/") return void response.end(() => process.exit(0));
  // Only the path and the query come from the agent: the host is fixed.
  const asked = new URL(request.url ?? "/", "http://agent.invalid");
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => !NOT_FORWARDED.includes(name)),
  );
  const send = target.protocol === "http:" ? httpRequest : httpsRequest;
  const forwarded = send(
    {
      hostname: target.hostname.replace(/^\[|\]$/g, ""),
      port: target.port,
      method: request.method,
      path: `${target.pathname.replace(/\/$/, "")}${asked.pathname}${asked.search}`,
      headers: {
        ...headers,
        host: target.host,
        [header]: header === "authorization" ? `Bearer ${key}` : key,
      },
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  forwarded.on("error", () => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502).end();
  });
  response.on("close", () => forwarded.destroy());
  request.pipe(forwarded);
});
server.listen(0, "127.0.0.1", () => {
  writeFileSync(file, JSON.stringify({ port: server.address().port, token }), { mode: 0o600 });
});
setTimeout(() => process.exit(0), lifetimeMs).unref();
