// What the editor of a template holds, and what becomes of it: the parts that a phone shows, and the body of a request.
import type { TemplateButton, TemplateComponent, TemplateExample } from "./types";
import { numberIn } from "../../ui/number";
import type { TemplateRow } from "./types";
import { filledIn, markersOf, partOf, typeOf } from "./variables";

export type HeaderKind = "NONE" | "TEXT" | "IMAGE" | "VIDEO" | "DOCUMENT" | "LOCATION" | "PRODUCT";
export type ButtonKind =
  | "QUICK_REPLY"
  | "URL"
  | "PHONE_NUMBER"
  | "COPY_CODE"
  | "FLOW"
  | "CATALOG"
  | "MPM"
  | "SPM"
  | "VOICE_CALL"
  | "REQUEST_CONTACT_INFO";

/** labels are the buttons with a text that the channel fixes. */
export const labels: Partial<Record<ButtonKind, string>> = {
  COPY_CODE: "Copy offer code",
  CATALOG: "View catalog",
  MPM: "View items",
  SPM: "View",
  REQUEST_CONTACT_INFO: "Share phone number",
};

export interface FormButton {
  key: number;
  type: ButtonKind;
  text: string;
  url: string;
  phone: string;
  sample: string;
  /** flow is the id of a published flow. */
  flow: string;
}

/** CodeMethod is how a one-time code gets from the message into the app. */
export type CodeMethod = "COPY_CODE" | "ONE_TAP" | "ZERO_TAP";
export interface FormCode {
  method: CodeMethod;
  warning: boolean;
  /** minutes is "" where the message doesn't say when the code expires. */
  minutes: string;
  text: string;
  autofill: string;
  terms: boolean;
  apps: { key: number; name: string; hash: string }[];
}
export interface FormCard {
  key: number;
  handle: string;
  body: string;
  samples: Record<string, string>;
  buttons: FormButton[];
}
export interface Form {
  sender: string;
  name: string;
  language: string;
  category: string;
  header: { kind: HeaderKind; text: string; sample: string; handle: string };
  body: string;
  samples: Record<string, string>;
  footer: string;
  buttons: FormButton[];
  /** code is the message of an AUTHENTICATION template, whose words are the channel's. */
  code: FormCode;
  offer: { on: boolean; text: string; expires: boolean };
  /** cards are those of a carousel, all with a header of one kind. */
  cards: FormCard[];
  cardHeader: "IMAGE" | "VIDEO" | "PRODUCT";
  asksToCall: boolean;
  /** ttl is the seconds in which a message has to be delivered: "" for the channel's default, "-1" for 30 days. */
  ttl: string;
}

/** deadlines are the most seconds of a delivery, by category. Marketing has none. */
export const deadlines: Record<string, number | undefined> = { UTILITY: 43_200, AUTHENTICATION: 900 };

let keys = 0;
export function newButton(type: ButtonKind): FormButton {
  return { key: ++keys, type, text: labels[type] ?? "", url: "", phone: "", sample: "", flow: "" };
}

export function newApp() {
  return { key: ++keys, name: "", hash: "" };
}

/** newCard is a card with the same buttons as another one, since all cards of a carousel are alike. */
export function newCard(like?: FormCard): FormCard {
  return {
    key: ++keys,
    handle: "",
    body: "",
    samples: {},
    buttons: (like?.buttons ?? []).map((b) => ({ ...b, key: ++keys, sample: "" })),
  };
}

export function emptyForm(language: string): Form {
  return {
    sender: "",
    name: "",
    language,
    category: "UTILITY",
    header: { kind: "NONE", text: "", sample: "", handle: "" },
    body: "",
    samples: {},
    footer: "",
    buttons: [],
    code: { method: "COPY_CODE", warning: true, minutes: "10", text: "", autofill: "", terms: false, apps: [] },
    offer: { on: false, text: "", expires: true },
    cards: [],
    cardHeader: "IMAGE",
    asksToCall: false,
    ttl: "",
  };
}

/** isCode reports whether a form is that of a one-time code. */
export const isCode = (f: Form): boolean => f.category === "AUTHENTICATION";

/** formOf is a template as the editor holds it. */
export function formOf(
  t: Pick<TemplateRow, "name" | "language" | "category" | "components"> &
    Partial<Pick<TemplateRow, "sender" | "message_send_ttl_seconds">>,
): Form {
  const form = {
    ...emptyForm(t.language),
    sender: t.sender ?? "",
    name: t.name,
    category: t.category,
    ttl: t.message_send_ttl_seconds ? String(t.message_send_ttl_seconds) : "",
  };
  for (const c of t.components) {
    switch (typeOf(c)) {
      case "HEADER": {
        const kind = (c.format?.toUpperCase() ?? "TEXT") as HeaderKind;
        form.header = {
          kind,
          text: c.text ?? "",
          sample: c.example?.header_text?.[0] ?? c.example?.header_text_named_params?.[0]?.example ?? "",
          handle: c.example?.header_handle?.[0] ?? "",
        };
        break;
      }
      case "BODY":
        form.body = c.text ?? "";
        form.samples = samplesOf(c);
        form.code.warning = c.add_security_recommendation ?? false;
        break;
      case "FOOTER":
        form.footer = c.text ?? "";
        form.code.minutes = c.code_expiration_minutes ? String(c.code_expiration_minutes) : "";
        break;
      case "BUTTONS":
        if (isCode(form)) form.code = { ...form.code, ...codeOf(c.buttons?.[0]) };
        else form.buttons = (c.buttons ?? []).map(buttonOf);
        break;
      case "LIMITED_TIME_OFFER":
        form.offer = {
          on: true,
          text: c.limited_time_offer?.text ?? "",
          expires: c.limited_time_offer?.has_expiration ?? false,
        };
        break;
      case "CAROUSEL":
        form.cards = (c.cards ?? []).map((card) => cardOf(card.components));
        form.cardHeader = (partOf(c.cards?.[0]?.components ?? [], "HEADER")?.format?.toUpperCase() ??
          "IMAGE") as Form["cardHeader"];
        break;
      case "CALL_PERMISSION_REQUEST":
        form.asksToCall = true;
    }
  }
  if (isCode(form) && !partOf(t.components, "FOOTER")) form.code.minutes = "";
  return form;
}

function codeOf(b: TemplateButton | undefined): Partial<FormCode> {
  const listed = /otp_type=(\w+)/.exec(b?.url ?? "")?.[1];
  return {
    method: (b?.otp_type ?? listed ?? "COPY_CODE").toUpperCase() as CodeMethod,
    text: b?.text ?? "",
    autofill: b?.autofill_text ?? "",
    terms: b?.zero_tap_terms_accepted ?? false,
    apps: (b?.supported_apps ?? []).map((a) => ({ key: ++keys, name: a.package_name, hash: a.signature_hash })),
  };
}

function cardOf(components: TemplateComponent[]): FormCard {
  const body = partOf(components, "BODY");
  return {
    ...newCard(),
    handle: partOf(components, "HEADER")?.example?.header_handle?.[0] ?? "",
    body: body?.text ?? "",
    samples: body ? samplesOf(body) : {},
    buttons: (partOf(components, "BUTTONS")?.buttons ?? []).map(buttonOf),
  };
}

/** samplesOf are the sample values of a body. One that is only the name of its variable is none. */
function samplesOf(c: TemplateComponent): Record<string, string> {
  const positions = markersOf(c.text ?? "").map((name, i) => [name, c.example?.body_text?.[0]?.[i] ?? ""] as const);
  const named = (c.example?.body_text_named_params ?? []).map((p) => [p.param_name, p.example] as const);
  return Object.fromEntries([...positions, ...named].filter(([name, sample]) => sample && sample !== name));
}

function buttonOf(b: TemplateButton): FormButton {
  const prefix = (b.url ?? "").split("{{")[0]!,
    example = b.example?.[0] ?? "";
  return {
    ...newButton(b.type as ButtonKind),
    text: b.text || (labels[b.type as ButtonKind] ?? ""),
    url: b.url ?? "",
    phone: b.phone_number ?? "",
    flow: b.flow_id ?? "",
    sample: example.startsWith(prefix) ? example.slice(prefix.length) : example,
  };
}

/** named reports whether the variables of a form have names; otherwise they have numbers. */
export function named(f: Form): boolean {
  return [...markersOf(f.body), ...(f.header.kind === "TEXT" ? markersOf(f.header.text) : [])].some(
    (name) => !/^\d+$/.test(name),
  );
}

function headerOf(f: Form): TemplateComponent[] {
  if (f.header.kind === "NONE") return [];
  if (f.header.kind !== "TEXT")
    return [
      {
        type: "HEADER",
        format: f.header.kind,
        ...(f.header.handle.trim() ? { example: { header_handle: [f.header.handle.trim()] } } : {}),
      },
    ];
  const variable = markersOf(f.header.text)[0],
    sample = f.header.sample.trim();
  const example: TemplateExample | undefined =
    !variable || !sample
      ? undefined
      : named(f)
        ? { header_text_named_params: [{ param_name: variable, example: sample }] }
        : { header_text: [sample] };
  return [{ type: "HEADER", format: "TEXT", text: f.header.text, ...(example ? { example } : {}) }];
}

/** phoneOf is the number of a button, with its +; what is none stays as it is written, for the rules to refuse. */
export function phoneOf(text: string): string {
  const number = numberIn(text);
  return number ? (/^\s*[+\uff0b]/.test(text) ? "+" : "") + number : text.trim();
}

function buttonsOf(buttons: FormButton[]): TemplateComponent[] {
  return buttons.length === 0 ? [] : [{ type: "BUTTONS", buttons: buttons.map(buttonPart) }];
}

function buttonPart(b: FormButton): TemplateButton {
  const sample = b.sample.trim(),
    url = b.url.trim();
  switch (b.type) {
    case "PHONE_NUMBER":
      return { type: b.type, text: b.text, phone_number: phoneOf(b.phone) };
    case "COPY_CODE":
      return { type: b.type, ...(sample ? { example: [sample] } : {}) };
    case "REQUEST_CONTACT_INFO":
      return { type: b.type };
    case "FLOW":
      return { type: b.type, text: b.text, flow_id: b.flow.trim() };
    case "URL":
      return {
        type: b.type,
        text: b.text,
        url,
        ...(sample && markersOf(url).length > 0 ? { example: [filledIn(url, () => sample)] } : {}),
      };
  }
  return { type: b.type, text: b.text };
}

/** codeParts are the parts of a one-time code. */
function codeParts(c: FormCode): TemplateComponent[] {
  const tap = c.method !== "COPY_CODE";
  return [
    { type: "BODY", add_security_recommendation: c.warning },
    ...(c.minutes.trim() ? [{ type: "FOOTER", code_expiration_minutes: Number(c.minutes) }] : []),
    {
      type: "BUTTONS",
      buttons: [
        {
          type: "OTP",
          otp_type: c.method,
          text: c.text.trim(),
          ...(c.method === "ONE_TAP" && c.autofill.trim() ? { autofill_text: c.autofill.trim() } : {}),
          ...(tap
            ? { supported_apps: c.apps.map((a) => ({ package_name: a.name.trim(), signature_hash: a.hash.trim() })) }
            : {}),
          ...(c.method === "ZERO_TAP" ? { zero_tap_terms_accepted: c.terms } : {}),
        },
      ],
    },
  ];
}

function offerOf(f: Form): TemplateComponent[] {
  if (!f.offer.on) return [];
  return [
    { type: "LIMITED_TIME_OFFER", limited_time_offer: { text: f.offer.text.trim(), has_expiration: f.offer.expires } },
  ];
}

function carouselOf(f: Form): TemplateComponent[] {
  if (f.cards.length === 0) return [];
  return [
    {
      type: "CAROUSEL",
      cards: f.cards.map((c) => ({
        components: [
          {
            type: "HEADER",
            format: f.cardHeader,
            ...(c.handle.trim() ? { example: { header_handle: [c.handle.trim()] } } : {}),
          },
          ...(c.body.trim() ? [{ type: "BODY", text: c.body, ...bodyExample(c) }] : []),
          ...buttonsOf(c.buttons),
        ],
      })),
    },
  ];
}

/** bodyExample has the samples of a card's text, where there are any. */
function bodyExample(c: FormCard): { example?: TemplateExample } {
  const names = markersOf(c.body);
  const sample = (name: string) => c.samples[name]?.trim() || name;
  if (names.length === 0) return {};
  return names.every((name) => /^\d+$/.test(name))
    ? { example: { body_text: [names.map(sample)] } }
    : { example: { body_text_named_params: names.map((n) => ({ param_name: n, example: sample(n) })) } };
}

const footerOf = (f: Form): TemplateComponent[] => (f.footer.trim() ? [{ type: "FOOTER", text: f.footer }] : []);

/** restOf are the parts after the text. */
function restOf(f: Form): TemplateComponent[] {
  return [
    ...footerOf(f),
    ...buttonsOf(f.buttons),
    ...carouselOf(f),
    ...(f.asksToCall ? [{ type: "CALL_PERMISSION_REQUEST" }] : []),
  ];
}

/** partsOf are the parts of a payload; the body is none of them, except that of a one-time code. */
export function partsOf(f: Form): TemplateComponent[] {
  return isCode(f) ? codeParts(f.code) : [...headerOf(f), ...offerOf(f), ...restOf(f)];
}

/** componentsOf are the parts of the template that the form makes. */
export function componentsOf(f: Form): TemplateComponent[] {
  if (isCode(f)) return codeParts(f.code);
  return [
    ...headerOf(f).filter((c) => c.format !== "TEXT" || c.text),
    ...offerOf(f),
    { type: "BODY", text: f.body },
    ...restOf(f),
  ];
}

/** payloadOf is the body of the request that stores the form. */
export function payloadOf(f: Form) {
  const samples = Object.fromEntries(
    markersOf(f.body)
      .filter((name) => f.samples[name]?.trim())
      .map((name) => [name, f.samples[name]!.trim()]),
  );
  const text = isCode(f) ? {} : { content: f.body, samples };
  return {
    name: f.name,
    language: f.language,
    category: f.category,
    ...text,
    components: partsOf(f),
    message_send_ttl_seconds: deadlines[f.category] ? Number(f.ttl) : 0,
  };
}

/** sampleValues are the samples by the keys of a request, for the preview. */
export function sampleValues(f: Form): Record<string, string> {
  const values: Record<string, string> = { header_text_0: f.header.sample };
  markersOf(f.body).forEach((name, i) => {
    values["body_text_" + i] = f.samples[name] ?? "";
  });
  f.buttons.forEach((b, i) => {
    values[(b.type === "COPY_CODE" ? "button_coupon_" : "button_url_") + i] = b.sample;
  });
  f.cards.forEach((c, card) => {
    markersOf(c.body).forEach((name, i) => {
      values[`card_${card}_body_text_${i}`] = c.samples[name] ?? "";
    });
    c.buttons.forEach((b, i) => {
      values[`card_${card}_button_url_${i}`] = b.sample;
    });
  });
  return values;
}

/** fieldOf is the field of the form that a field of the payload stands for; "" for none. */
export function fieldOf(f: Form, field: string): string {
  if (field === "content") return "body";
  if (field === "message_send_ttl_seconds") return "ttl";
  const [head, n, ...rest] = field.split(".");
  if (head !== "components" || n === undefined) return field;
  const part = partsOf(f)[Number(n)]?.type;
  if (isCode(f)) return codeField(part, rest);
  if (part === "HEADER") return rest[0] === "example" ? "header.handle" : "header";
  if (part === "FOOTER") return "footer";
  if (part === "LIMITED_TIME_OFFER") return "offer.text";
  if (part === "CAROUSEL") return cardField(f, rest);
  return part === "BUTTONS" ? rest.slice(0, 3).join(".").replace("phone_number", "phone") || "buttons" : "";
}

/** codeField is the field of a part of a one-time code. */
function codeField(part: string | undefined, rest: string[]): string {
  if (part === "FOOTER") return "code.minutes";
  if (part !== "BUTTONS") return "";
  const [app, n, member] = rest.slice(2);
  if (app === "supported_apps" && n !== undefined)
    return `code.apps.${n}.${member === "signature_hash" ? "hash" : "name"}`;
  return app === "autofill_text" ? "code.autofill" : app === "zero_tap_terms_accepted" ? "code.terms" : "code.text";
}

/** cardField is the field of a part of a card: cards.0.components.1.text is cards.0.body. */
function cardField(f: Form, rest: string[]): string {
  const [, card, , n, ...inner] = rest;
  if (card === undefined) return "cards";
  if (n === undefined) return `cards.${card}.body`;
  const part = carouselOf(f)[0]?.cards?.[Number(card)]?.components[Number(n)]?.type;
  if (part === "BUTTONS") return `cards.${card}.${inner.slice(0, 3).join(".").replace("phone_number", "phone")}`;
  return `cards.${card}.${part === "HEADER" ? "handle" : "body"}`;
}

/** nextVariable is the name of a new variable: the next number, or in a text with names a name that is free. */
export function nextVariable(f: Form): string {
  const taken = markersOf(f.body);
  if (!named(f)) return String(taken.length + 1);
  for (let n = 1; ; n++) if (!taken.includes("value_" + n)) return "value_" + n;
}
