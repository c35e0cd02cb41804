// The rules of a template, as the server checks them: ../../../../../internal/base/content/testdata/drafts.json has cases that both must judge alike.
import { deadlines, isCode, labels, phoneOf, type ButtonKind, type Form, type FormButton } from "./form";
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
  coupon: 20,
  minutes: 90,
  apps: 5,
  hash: 11,
  deadline: 30, // seconds at least
  offer: 16,
  offerBody: 600,
  cards: 10,
  cardBody: 160,
  cardButtons: 2,
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
  | "phoneForm"
  | "single"
  | "minutes"
  | "deadline"
  | "apps"
  | "package"
  | "hash"
  | "terms"
  | "marketing"
  | "noFooter"
  | "offerHeader"
  | "cards"
  | "alike"
  | "plainCarousel"
  | "twoProducts"
  | "offerButtons"
  | "alone"
  | "itemsHeader"
  | "productHeader";
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
  deadline(f, say);
  if (isCode(f)) {
    code(f, say);
    return p;
  }
  body(f, say);
  header(f, say);
  if (!blank(f.footer)) {
    if (long(f.footer) > limits.footer) say("footer", "long", limits.footer);
    if (f.footer.includes("{{")) say("footer", "footerVariable");
  }
  buttons(f, say);
  offer(f, say);
  products(f, say);
  carousel(f, say);
  const count =
    markersOf(f.body).length +
    (f.header.kind === "TEXT" ? markersOf(f.header.text).length : 0) +
    f.buttons.filter((b) => b.type === "URL" && b.url.includes("{{")).length;
  if (count > limits.variables) say("body", "variables", limits.variables);
  return p;
}

function deadline(f: Form, say: Say): void {
  const most = deadlines[f.category],
    seconds = Number(f.ttl);
  if (!most || f.ttl === "" || f.ttl === "-1") return;
  if (!(Number.isInteger(seconds) && seconds >= limits.deadline && seconds <= most)) say("ttl", "deadline", most);
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
  for (const type of Object.keys(labels).concat("FLOW", "VOICE_CALL") as ButtonKind[])
    if (f.buttons.filter((b) => b.type === type).length > 1) say("buttons", "single");
  f.buttons.forEach((b, i) => button(b, `buttons.${i}.`, say));
}

function button(b: FormButton, at: string, say: Say): void {
  if (blank(b.text)) say(at + "text", "required");
  else if (long(b.text) > limits.button) say(at + "text", "long", limits.button);
  if (b.type === "URL") address(b.url.trim(), at + "url", say);
  if (b.type === "PHONE_NUMBER" && !/^\+?\d{7,15}$/.test(phoneOf(b.phone)))
    say(at + "phone", blank(b.phone) ? "required" : "phoneForm");
  if (b.type === "COPY_CODE" && blank(b.sample)) say(at + "sample", "required");
  if (b.type === "COPY_CODE" && long(b.sample.trim()) > limits.coupon) say(at + "sample", "long", limits.coupon);
  if (b.type === "FLOW" && blank(b.flow)) say(at + "flow", "required");
}

function code(f: Form, say: Say): void {
  const c = f.code,
    minutes = Number(c.minutes);
  if (c.minutes.trim() && !(Number.isInteger(minutes) && minutes >= 1 && minutes <= limits.minutes))
    say("code.minutes", "minutes", limits.minutes);
  if (long(c.text) > limits.button) say("code.text", "long", limits.button);
  if (c.method === "COPY_CODE") return;
  if (long(c.autofill) > limits.button) say("code.autofill", "long", limits.button);
  if (c.apps.length === 0 || c.apps.length > limits.apps) say("code.apps", "apps", limits.apps);
  c.apps.forEach((a, i) => {
    if (!/^[A-Za-z]\w*(\.[A-Za-z]\w*)+$/.test(a.name.trim()) || a.name.length > 224)
      say(`code.apps.${i}.name`, "package");
    if (a.hash.trim().length !== limits.hash) say(`code.apps.${i}.hash`, "hash", limits.hash);
  });
  if (c.method === "ZERO_TAP" && !c.terms) say("code.terms", "terms");
}

function offer(f: Form, say: Say): void {
  if (!f.offer.on) return;
  if (f.category !== "MARKETING") say("offer", "marketing");
  if (blank(f.offer.text)) say("offer.text", "required");
  else if (long(f.offer.text.trim()) > limits.offer) say("offer.text", "long", limits.offer);
  if (long(f.body) > limits.offerBody) say("body", "long", limits.offerBody);
  if (!blank(f.footer)) say("footer", "noFooter");
  if (!["NONE", "IMAGE", "VIDEO"].includes(f.header.kind)) say("header", "offerHeader");
  if (f.buttons.map((b) => b.type).join() !== "COPY_CODE,URL") say("buttons", "offerButtons");
}

function products(f: Form, say: Say): void {
  const has = (type: ButtonKind): boolean => f.buttons.some((b) => b.type === type);
  if (f.buttons.length > 1 && (has("CATALOG") || has("MPM") || has("SPM"))) say("buttons", "alone");
  if (has("MPM") && f.header.kind !== "TEXT") say("buttons", "itemsHeader");
  if (has("SPM") !== (f.header.kind === "PRODUCT")) say("buttons", "productHeader");
  if (f.header.kind === "PRODUCT" && long(f.body) > limits.cardBody) say("body", "long", limits.cardBody);
}

function carousel(f: Form, say: Say): void {
  if (f.cards.length === 0) return;
  if (f.category !== "MARKETING") say("cards", "marketing");
  const goods = f.cardHeader === "PRODUCT";
  if (goods && f.cards.length !== 2) say("cards", "twoProducts");
  if (f.cards.length < 2 || f.cards.length > limits.cards) say("cards", "cards", limits.cards);
  if (f.header.kind !== "NONE" || f.footer.trim() || f.buttons.length > 0 || f.offer.on) say("cards", "plainCarousel");
  const kinds = f.cards.map((c) => c.buttons.map((b) => b.type).join() + blank(c.body));
  if (new Set(kinds).size > 1) say("cards", "alike");
  f.cards.forEach((c, i) => {
    const at = `cards.${i}.`;
    const fault = faultIn(c.body, true, true);
    if (fault) say(at + "body", fault);
    if (long(c.body) > limits.cardBody) say(at + "body", "long", limits.cardBody);
    const most = goods ? 1 : limits.cardButtons;
    if (c.buttons.length === 0) say(at + "buttons", "required");
    if (c.buttons.length > most) say(at + "buttons", "buttons", most);
    c.buttons.forEach((b, n) => button(b, `${at}buttons.${n}.`, say));
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
