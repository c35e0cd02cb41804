// The rules of a template, as the server checks them: ../../../../../internal/base/content/testdata/drafts.json has cases that both must judge alike.
import { partsOf, type Form } from "./form";
import { markersOf } from "./variables";

export const limits = {
  name: 512,
  body: 1024,
  header: 60,
  footer: 60,
  button: 25,
  url: 2000,
  buttons: 10,
  urls: 2,
  phones: 1,
  variables: 20,
};

/** Rule is what is wrong with a field; n is the limit, where it is one. */
export interface Rule {
  rule: RuleName;
  n?: number;
}
export type RuleName =
  | "required"
  | "nameForm"
  | "languageForm"
  | "category"
  | "long"
  | "variables"
  | "open"
  | "unnamed"
  | "variableForm"
  | "mixed"
  | "gap"
  | "headerVariables"
  | "footerVariable"
  | "sampleLine"
  | "buttons"
  | "together"
  | "urls"
  | "phones"
  | "urlForm"
  | "urlVariable"
  | "phoneForm";
export type Problems = Record<string, Rule>;

/** long counts as the server does: code points. */
export const long = (s: string): number => [...s].length;
const blank = (s: string): boolean => s.trim() === "";
const isNumber = (s: string): boolean => /^[1-9]\d{0,8}$/.test(s);
const isName = (s: string): boolean => /^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(s);

/** problemsOf is what is wrong with a form, by its field: the first thing of each. */
export function problemsOf(f: Form): Problems {
  const p: Problems = {};
  const say = (field: string, rule: RuleName, n?: number) => {
    p[field] ??= n === undefined ? { rule } : { rule, n };
  };
  if (blank(f.name)) say("name", "required");
  else if (!/^[a-z0-9_]+$/.test(f.name)) say("name", "nameForm");
  else if (f.name.length > limits.name) say("name", "long", limits.name);
  if (blank(f.language)) say("language", "required");
  else if (f.language.length > 16 || !/^[A-Za-z]{2,3}([_-][A-Za-z0-9]{2,8})*$/.test(f.language))
    say("language", "languageForm");
  if (!["MARKETING", "UTILITY", "AUTHENTICATION"].includes(f.category)) say("category", "category");
  body(f, say);
  header(f, say);
  if (!blank(f.footer)) {
    if (long(f.footer) > limits.footer) say("footer", "long", limits.footer);
    if (f.footer.includes("{{")) say("footer", "footerVariable");
  }
  buttons(f, say);
  const count =
    markersOf(f.body).length +
    (f.header.kind === "TEXT" ? markersOf(f.header.text).length : 0) +
    f.buttons.filter((b) => b.type === "URL" && b.url.includes("{{")).length;
  if (count > limits.variables) say("body", "variables", limits.variables);
  return p;
}

type Say = (field: string, rule: RuleName, n?: number) => void;

/** faultIn is what is wrong with the variables of a text, where they may be names, numbers or either. */
function faultIn(text: string, numbers: boolean, names: boolean): RuleName | undefined {
  for (let rest = text; rest.includes("{{");) {
    rest = rest.slice(rest.indexOf("{{") + 2);
    const end = rest.indexOf("}}");
    if (end < 0) return "open";
    const name = rest.slice(0, end).trim();
    if (name === "") return "unnamed";
    if (!(numbers && isNumber(name)) && !(names && isName(name))) return "variableForm";
    rest = rest.slice(end + 2);
  }
  return undefined;
}

function body(f: Form, say: Say): void {
  if (blank(f.body)) return say("body", "required");
  if (long(f.body) > limits.body) return say("body", "long", limits.body);
  const fault = faultIn(f.body, true, true);
  if (fault) return say("body", fault);
  const names = markersOf(f.body),
    numbers = names.filter(isNumber);
  if (numbers.length > 0 && numbers.length < names.length) return say("body", "mixed");
  if (numbers.length > 0 && Number(numbers[numbers.length - 1]) !== numbers.length) return say("body", "gap");
  let filled = long(f.body);
  for (const name of names) {
    const sample = (f.samples[name] ?? "").trim();
    if (/[{}\r\n\t]/.test(sample)) say("samples." + name, "sampleLine");
    if (sample)
      for (const m of f.body.matchAll(/\{\{\s*([^{}]+?)\s*\}\}/g))
        if (m[1] === name) filled += long(sample) - long(m[0]);
  }
  if (filled > limits.body)
    for (const name of names) if ((f.samples[name] ?? "").trim()) say("samples." + name, "long", limits.body);
}

function header(f: Form, say: Say): void {
  if (f.header.kind !== "TEXT") return;
  const text = f.header.text;
  if (blank(text)) return say("header", "required");
  if (long(text) > limits.header) return say("header", "long", limits.header);
  const inBody = markersOf(f.body);
  const names = inBody.length === 0 || inBody.some((n) => !isNumber(n)),
    numbers = inBody.length === 0 || !names;
  const fault = faultIn(text, numbers, names);
  if (fault) return say("header", fault);
  if ((text.match(/\{\{/g) ?? []).length > 1) say("header", "headerVariables");
}

function buttons(f: Form, say: Say): void {
  if (f.buttons.length > limits.buttons) say("buttons", "buttons", limits.buttons);
  const replies = f.buttons.map((b, i) => (b.type === "QUICK_REPLY" ? i : -1)).filter((i) => i >= 0);
  if (replies.length > 0 && replies[replies.length - 1]! - replies[0]! !== replies.length - 1)
    say("buttons", "together");
  if (f.buttons.filter((b) => b.type === "URL").length > limits.urls) say("buttons", "urls", limits.urls);
  if (f.buttons.filter((b) => b.type === "PHONE_NUMBER").length > limits.phones)
    say("buttons", "phones", limits.phones);
  const made = partsOf(f).find((c) => c.type === "BUTTONS")?.buttons ?? [];
  f.buttons.forEach((b, i) => {
    const at = `buttons.${i}.`;
    if (blank(b.text)) say(at + "text", "required");
    else if (long(b.text) > limits.button) say(at + "text", "long", limits.button);
    if (b.type === "URL") address(b.url.trim(), at + "url", say);
    if (b.type === "PHONE_NUMBER" && !/^\+?\d{7,15}$/.test(made[i]?.phone_number ?? ""))
      say(at + "phone", blank(b.phone) ? "required" : "phoneForm");
  });
}

function address(url: string, field: string, say: Say): void {
  if (url === "") return say(field, "required");
  const prefix = url.split("{{")[0]!;
  if (!/^https?:\/\/[^/?#\s]+/i.test(prefix) || !URL.canParse(prefix)) return say(field, "urlForm");
  if (long(url) > limits.url) return say(field, "long", limits.url);
  if (url.includes("{{") && !/^[^{]*\{\{[^{}]*[^{}\s][^{}]*\}\}$/.test(url)) say(field, "urlVariable");
}

/** advice is what the channel's reviewers often reject, though it breaks no rule. */
export function advice(f: Form): ("edges" | "dense" | "twins")[] {
  const body = f.body.trim();
  const found: ("edges" | "dense" | "twins")[] = [];
  if (/^\{\{[^{}]+\}\}|\{\{[^{}]+\}\}$/.test(body)) found.push("edges");
  const words = body
      .replace(/\{\{[^{}]+\}\}/g, " ")
      .split(/\s+/)
      .filter((w) => /[\p{L}\p{N}]/u.test(w)).length,
    variables = (body.match(/\{\{[^{}]+\}\}/g) ?? []).length;
  if (variables > 0 && words < 3 * variables) found.push("dense");
  const texts = f.buttons.map((b) => b.text.trim()).filter(Boolean);
  if (new Set(texts).size < texts.length) found.push("twins");
  return found;
}
