// A request to an endpoint, as it was sent.
import type { Attempt, Webhook } from "./types";

/** keptBody is how much of a request's body is kept. */
export const keptBody = 8 << 10;

export const whole = (a: Attempt): boolean => new TextEncoder().encode(a.request).length < keptBody;
export const timestampOf = (a: Attempt): string => String(Math.floor(Date.parse(a.at) / 1000));

const quoted = (text: string): string => "'" + text.replaceAll("'", "'\\''") + "'";

/** curlOf is the command that makes the request again, without what only Carillon knows: the signature, and the values of headers. */
export function curlOf(w: Webhook, a: Attempt): string {
  const lines = [
    `curl ${quoted(w.url)}`,
    "-H 'Content-Type: application/json'",
    `-H ${quoted("webhook-id: " + a.event_id)}`,
    `-H ${quoted("webhook-timestamp: " + timestampOf(a))}`,
    `--data-raw ${quoted(a.request)}`,
  ];
  return lines.join(" \\\n  ");
}

/** pretty is JSON over several lines; other texts stay as they are. */
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
