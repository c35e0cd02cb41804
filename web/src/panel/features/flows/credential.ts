// What in a flow looks like a key that everybody who edits flows can read.

/** Credential is a value that had better be a secret; prefix stands before it and stays. */
export interface Credential {
  prefix: string;
  value: string;
}

const names = /^(authorization|proxy-authorization|cookie)$|(^|[-_])(key|apikey|token|secret|password|signature)$/i;
const schemes = /^(bearer|basic|token|apikey)\s+/i;
const minValue = 8; // characters of a secret

/** credentialOf is the credential that a header holds; null where it holds none, or a secret already. */
export function credentialOf(name: string, text: string): Credential | null {
  const prefix = schemes.exec(text)?.[0] ?? "";
  const value = text.slice(prefix.length).trim();
  if ((!prefix && !names.test(name.trim())) || value.length < minValue || value.includes("{{")) return null;
  return { prefix, value };
}

/** hostOf is the host of an address in which placeholders may stand behind it; "" where there is none yet. */
export function hostOf(url: string): string {
  return /^https?:\/\/(\[[^\]]+\]|[^/?#:]+)/i.exec(url)?.[1]?.replace(/[[\]]/g, "") ?? "";
}
