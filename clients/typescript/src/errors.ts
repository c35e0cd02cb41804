/** What kind of error a response is. */
export type Code =
  | "validation_failed"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "template_not_found"
  | "agent_not_found"
  | "method_not_allowed"
  | "conflict"
  | "idempotency_in_progress"
  | "idempotency_key_reused"
  | "payload_too_large"
  | "template_not_approved"
  | "variable_mismatch"
  | "limit_exceeded"
  | "rate_limit_exceeded"
  | "quota_exceeded"
  | "internal_error"
  | "service_unavailable"
  /** A response that is not the program's, such as a proxy's page. */
  | "unexpected_answer";

/** The fields of details; which ones there are depends on the code. */
export interface Details {
  field?: string;
  reason?: string;
  provided?: unknown;
  expected_format?: string;
  example?: unknown;
  current_time?: string;
  template_name?: string;
  language?: string;
  suggestion?: string;
  current_status?: string;
  template_variables?: string[];
  provided_variables?: string[];
  missing?: string[];
  unexpected?: string[];
  limit?: number;
  window?: string;
  quota?: number;
  used?: number;
  reset_time?: string;
  [field: string]: unknown;
}

/** A response other than success, or one that cannot be read. */
export class CarillonError extends Error {
  override readonly name = "CarillonError";

  constructor(
    readonly status: number,
    readonly code: Code,
    readonly reason: string,
    readonly details: Details,
    /** Seconds to wait, where the response names them. */
    readonly retryAfter: number | undefined,
    /** What to quote to who runs the program. */
    readonly requestId: string | undefined,
  ) {
    super(
      `${code}: ${reason}${Object.entries(details)
        .map(
          ([name, value]) =>
            `; ${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
        )
        .join("")}${requestId ? ` (request_id ${requestId})` : ""}`,
    );
  }
}

/** There was no response. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";

  constructor(base: string, cause: unknown) {
    super(`no response from ${base}: ${causeOf(cause)}`); // the cause's own message may hold the address, and that a key
  }
}

function causeOf(e: unknown): string {
  const inner =
    (e as { cause?: { code?: unknown } } | undefined)?.cause?.code ??
    (e as { code?: unknown } | undefined)?.code;
  return typeof inner === "string"
    ? inner
    : e instanceof Error
      ? e.name
      : "the connection broke";
}

/** errorOf reads the error of a response. */
export function errorOf(response: Response, text: string): CarillonError {
  let body: {
    error?: unknown;
    message?: unknown;
    details?: unknown;
    retry_after?: unknown;
    request_id?: unknown;
  } = {};
  try {
    body = JSON.parse(text) ?? {};
  } catch {
    /* it is not the program's */
  }
  if (typeof body.error !== "string" || typeof body.message !== "string") {
    return unexpected(response);
  }
  return new CarillonError(
    response.status,
    body.error as Code,
    body.message,
    (typeof body.details === "object" && body.details
      ? body.details
      : {}) as Details,
    typeof body.retry_after === "number" ? body.retry_after : undefined,
    typeof body.request_id === "string" ? body.request_id : undefined,
  );
}

/** unexpected is the error of a response that is not the program's. */
export function unexpected(response: Response): CarillonError {
  return new CarillonError(
    response.status,
    "unexpected_answer",
    `${response.status}, and not in the form of this program`,
    {},
    seconds(response.headers.get("Retry-After")),
    response.headers.get("X-Request-Id") ?? undefined,
  );
}

/** seconds is a Retry-After. */
function seconds(header: string | null): number | undefined {
  if (!header) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at)
    ? undefined
    : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}
