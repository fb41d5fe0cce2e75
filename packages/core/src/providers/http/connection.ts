import { errorMessage } from "@agent/internal";
import { AttemptError, type Retryable } from "./retry.js";

const MOST_CAUSES = 4;

/** Failures of a connection that a retry does not mend: the sign in an error's cause, and what to do about it. */
const LASTING: readonly { sign: RegExp; cure: string; retryable?: Retryable }[] = [
  { sign: /^bad port$/, cure: "HTTP clients refuse this port; let the server listen on another one." },
  {
    sign: /HEADERS_OVERFLOW|HPE_HEADER_OVERFLOW/,
    cure: "The server's answer has more headers than an HTTP client reads. Check baseURL.",
  },
  { sign: /WRONG_VERSION_NUMBER/, cure: "The server does not speak HTTPS. Let baseURL begin with http://." },
  { sign: /HPE_INVALID_(CONSTANT|VERSION)/, cure: "What answers there is no HTTP server. Check baseURL." },
  {
    sign: /SELF_SIGNED|CERT_|UNABLE_TO_(GET|VERIFY)|ALTNAME_INVALID|HOSTNAME_MISMATCH|INVALID_CA/,
    cure: "The server's certificate is not trusted. If it should be, name its authority in NODE_EXTRA_CA_CERTS.",
  },
  // A name server that has just lost its own connection answers the same, so one retry is worth it.
  { sign: /ENOTFOUND/, cure: "Check the host in baseURL, and the network.", retryable: "once" },
];

/** An attempt that ended without an answer: the connection failed or the body was cut. */
export function connectionError(error: unknown): AttemptError {
  if (error instanceof AttemptError) return error;
  const causes = causesOf(error);
  const failure = errorMessage(error);
  const reasons = causes.map(({ text }) => text).filter((text) => !failure.includes(text));
  const message = describe([failure, ...reasons]);
  const lasting = LASTING.find(({ sign }) =>
    causes.some(({ code, text }) => sign.test(code) || sign.test(text)),
  );
  if (lasting) {
    return new AttemptError(`${message}. ${lasting.cure}`, {
      retryable: lasting.retryable ?? false,
      cause: error,
    });
  }
  // No tool of this turn has run, so asking again is safe.
  return new AttemptError(message, { retryable: true, cause: error });
}

/** The causes of an error, the nearest first. */
function causesOf(error: unknown): { code: string; text: string }[] {
  const causes: { code: string; text: string }[] = [];
  for (let cause = (error as Error)?.cause; cause instanceof Error; cause = cause.cause) {
    if (causes.length >= MOST_CAUSES - 1) break;
    const code = String((cause as NodeJS.ErrnoException).code ?? "");
    causes.push({ code, text: cause.message || code || cause.name });
  }
  return causes;
}

function describe(parts: readonly string[]): string {
  return [...new Set(parts.map((part) => part.replace(/\.$/, "")))].join(": ");
}
