import { fill } from "../i18n";
import { rules } from "./texts";

/** Reason is why the server refused something: its English sentence, and the rule behind it with the values in it. */
export interface Reason {
  reason?: unknown;
  expected_format?: unknown;
  rule?: unknown;
  values?: unknown;
}

/** sentenceOf is a reason in the language of the page; "" where it has no rule. */
export function sentenceOf(x: Reason | undefined): string {
  const text = typeof x?.rule === "string" ? (rules.now as Record<string, string>)[x.rule] : undefined;
  return text ? fill(text, (x!.values ?? {}) as Record<string, string>) : "";
}

/** englishOf is a reason as the server words it; "" where there is none, or only a name such as changed_meanwhile. */
export function englishOf(x: Reason | undefined): string {
  const text = x?.reason ?? x?.expected_format;
  return typeof text === "string" && /^\p{Lu}.* /u.test(text) ? text : "";
}
