// What the editor of a template holds, and what becomes of it: the parts that a phone shows, and the body of a request.
import type { TemplateButton, TemplateComponent, TemplateExample } from "./types";
import { numberIn } from "../../ui/number";
import type { TemplateRow } from "./types";
import { filledIn, markersOf } from "./variables";

export type HeaderKind = "NONE" | "TEXT" | "IMAGE" | "VIDEO" | "DOCUMENT";
export type ButtonKind = "QUICK_REPLY" | "URL" | "PHONE_NUMBER";
export interface FormButton {
  key: number;
  type: ButtonKind;
  text: string;
  url: string;
  phone: string;
  sample: string;
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
}

let keys = 0;
export function newButton(type: ButtonKind): FormButton {
  return { key: ++keys, type, text: "", url: "", phone: "", sample: "" };
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
  };
}

/** formOf is a template as the editor holds it. */
export function formOf(
  t: Pick<TemplateRow, "name" | "language" | "category" | "components"> & { sender?: string },
): Form {
  const form = { ...emptyForm(t.language), sender: t.sender ?? "", name: t.name, category: t.category };
  for (const c of t.components) {
    switch (c.type) {
      case "HEADER": {
        const kind = (c.format ?? "TEXT") as HeaderKind;
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
        break;
      case "FOOTER":
        form.footer = c.text ?? "";
        break;
      case "BUTTONS":
        form.buttons = (c.buttons ?? []).map(buttonOf);
    }
  }
  return form;
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
    text: b.text,
    url: b.url ?? "",
    phone: b.phone_number ?? "",
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
function phoneOf(text: string): string {
  const number = numberIn(text);
  return number ? (/^\s*[+\uff0b]/.test(text) ? "+" : "") + number : text.trim();
}

function buttonsOf(f: Form): TemplateComponent[] {
  if (f.buttons.length === 0) return [];
  return [
    {
      type: "BUTTONS",
      buttons: f.buttons.map((b) => {
        if (b.type === "QUICK_REPLY") return { type: b.type, text: b.text };
        if (b.type === "PHONE_NUMBER") return { type: b.type, text: b.text, phone_number: phoneOf(b.phone) };
        const url = b.url.trim(),
          sample = b.sample.trim();
        return {
          type: b.type,
          text: b.text,
          url,
          ...(sample && markersOf(url).length > 0 ? { example: [filledIn(url, () => sample)] } : {}),
        };
      }),
    },
  ];
}

/** partsOf are the parts of a payload; the body is none of them. */
export function partsOf(f: Form): TemplateComponent[] {
  return [...headerOf(f), ...(f.footer.trim() ? [{ type: "FOOTER", text: f.footer }] : []), ...buttonsOf(f)];
}

/** componentsOf are the parts of the template that the form makes. */
export function componentsOf(f: Form): TemplateComponent[] {
  return [
    ...headerOf(f).filter((c) => c.format !== "TEXT" || c.text),
    { type: "BODY", text: f.body },
    ...(f.footer.trim() ? [{ type: "FOOTER", text: f.footer }] : []),
    ...buttonsOf(f),
  ];
}

/** payloadOf is the body of the request that stores the form. */
export function payloadOf(f: Form) {
  const samples = Object.fromEntries(
    markersOf(f.body)
      .filter((name) => f.samples[name]?.trim())
      .map((name) => [name, f.samples[name]!.trim()]),
  );
  return { name: f.name, language: f.language, category: f.category, content: f.body, samples, components: partsOf(f) };
}

/** sampleValues are the samples by the keys of a request, for the preview. */
export function sampleValues(f: Form): Record<string, string> {
  const values: Record<string, string> = { header_text_0: f.header.sample };
  markersOf(f.body).forEach((name, i) => {
    values["body_text_" + i] = f.samples[name] ?? "";
  });
  f.buttons.forEach((b, i) => {
    values["button_url_" + i] = b.sample;
  });
  return values;
}

/** fieldOf is the field of the form that a field of the payload stands for; "" for none. */
export function fieldOf(f: Form, field: string): string {
  if (field === "content") return "body";
  const [head, n, ...rest] = field.split(".");
  if (head !== "components" || n === undefined) return field;
  const part = partsOf(f)[Number(n)]?.type;
  if (part === "HEADER") return rest[0] === "example" ? "header.handle" : "header";
  if (part === "FOOTER") return "footer";
  return part === "BUTTONS" ? rest.slice(0, 3).join(".").replace("phone_number", "phone") || "buttons" : "";
}

/** nextVariable is the name of a new variable: the next number, or in a text with names a name that is free. */
export function nextVariable(f: Form): string {
  const taken = markersOf(f.body);
  if (!named(f)) return String(taken.length + 1);
  for (let n = 1; ; n++) if (!taken.includes("value_" + n)) return "value_" + n;
}
