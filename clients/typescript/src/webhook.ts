// Verifies what webhooks bring, as Standard Webhooks say, by the platform's cryptography.
import type { CarillonEvent } from "./types.js";

/** Why a webhook's request is not to be believed. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";

  constructor(
    readonly kind: "headers" | "secret" | "signature" | "time" | "body",
    message: string,
  ) {
    super(message);
  }
}

const tolerance = 5 * 60; // seconds between the signature and now

type Headers_ = Headers | Record<string, string | string[] | undefined>;

/**
 * verifyWebhook returns the event of a webhook's request, whose body is given as it came, once one of its signatures is found to be of one of
 * the secrets: two during a rotation. An event may come twice: keep the ids of some days, and leave out what is known.
 */
export async function verifyWebhook(
  headers: Headers_,
  body: string | Uint8Array,
  ...secrets: string[]
): Promise<CarillonEvent> {
  const id = header(headers, "webhook-id"),
    at = header(headers, "webhook-timestamp"),
    given = header(headers, "webhook-signature");
  if (!id || !at || !given || !/^\d+$/.test(at))
    throw new WebhookError(
      "headers",
      "the request has no webhook-id, webhook-timestamp or webhook-signature",
    );
  if (secrets.length === 0)
    throw new WebhookError("secret", "no secret was given");
  const text = new TextEncoder().encode(`${id}.${at}.`);
  const bytes =
    typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = new Uint8Array(text.length + bytes.length);
  signed.set(text);
  signed.set(bytes, text.length);
  let good = false;
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey(
      "raw",
      decode(secret),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["verify"],
    );
    for (const signature of given.split(" ")) {
      const [version, value] = signature.split(",");
      const mac = version === "v1" && value ? base64(value) : undefined;
      if (mac && (await crypto.subtle.verify("HMAC", key, mac, signed)))
        good = true; // it compares in constant time
    }
  }
  if (!good)
    throw new WebhookError(
      "signature",
      "the signature is not of this secret and body",
    );
  if (Math.abs(Date.now() / 1000 - Number(at)) > tolerance)
    throw new WebhookError(
      "time",
      "the request was signed more than five minutes ago, or in the future",
    );
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as CarillonEvent;
  } catch {
    throw new WebhookError("body", "the body is no event");
  }
}

function header(headers: Headers_, name: string): string | undefined {
  if (typeof (headers as Headers).get === "function")
    return (headers as Headers).get(name) ?? undefined;
  for (const [key, value] of Object.entries(
    headers as Record<string, string | string[] | undefined>,
  )) {
    if (key.toLowerCase() === name)
      return Array.isArray(value) ? value[0] : value;
  }
  return undefined;
}

function decode(secret: string): Uint8Array<ArrayBuffer> {
  const key = base64(secret.replace(/^whsec_/, ""));
  if (!key || key.length === 0)
    throw new WebhookError("secret", "a secret is whsec_ and base64");
  return key;
}

function base64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  } catch {
    return undefined;
  }
}
