// The fields of a template's variables, named by what the template says about them.
import { fill } from "../../i18n";
import { formOf, sampleValues } from "../templates/form";
import type { TemplateComponent } from "../templates/types";
import { partOf, placesOf, type Place } from "../templates/variables";

/** Field is the field of a variable; sample is the template's sample value, "" where it has none. */
export interface Field extends Place {
  label: string;
  sample: string;
}

const shown = 40; // characters of a sample in a label

/** samplesOf are the sample values of a template's variables, by key. */
export function samplesOf(t: { components: TemplateComponent[] }): Record<string, string> {
  const all = sampleValues(formOf(t as Parameters<typeof formOf>[0]));
  return Object.fromEntries(Object.entries(all).filter((x): x is [string, string] => !!x[1]?.trim()));
}

/** fieldsOf are the fields of a template, in the order of its parts. */
export function fieldsOf(t: Record<string, string>, components: TemplateComponent[]): Field[] {
  const samples = samplesOf({ components });
  return placesOf(components).map((p) => {
    const here =
      p.card === undefined ? components : (partOf(components, "CAROUSEL")?.cards?.[p.card]?.components ?? []);
    const button = partOf(here, "BUTTONS")?.buttons?.[p.n]?.text ?? "";
    const sample = p.part === "media" || p.counted ? "" : (samples[p.key] ?? "");
    let label = nameOf(t, p, button, sample);
    if (p.card !== undefined) label = fill(t.onCard!, { n: p.card + 1, label });
    if (p.optional) label = fill(t.optional!, { label });
    const short = sample.length > shown ? sample.slice(0, shown - 1) + "…" : sample;
    return { ...p, sample, label: sample ? fill(t.withSample!, { label, sample: short }) : label };
  });
}

function nameOf(t: Record<string, string>, p: Place, button: string, sample: string): string {
  const numbered = /^\d+$/.test(p.name);
  const name = numbered ? `{{${p.name}}}` : worded(p.name);
  switch (p.part) {
    case "media":
      return t[p.name] ?? p.name;
    case "header":
      return fill(t.headerValue!, { name });
    case "button":
      return fill(p.counted ? t.countedValue! : t.buttonValue!, { text: button });
    case "location":
      return (p.name === "name" ? t.placeName : t[p.name]) ?? p.name;
    case "product":
      if (p.name === "thumbnail") return fill(t.thumbnail!, { text: button });
      return (p.name === "catalog" ? t.catalogId : t.productId) ?? p.name;
    case "code":
      return t.codeValue!;
    case "coupon":
      return t.coupon!;
    case "offer":
      return t.expiration!;
    case "products":
      return t.products!;
    case "flow":
      return fill(t.token!, { text: button });
  }
  return numbered && !sample ? fill(t.bodyValue!, { name: p.name }) : name;
}

/** worded is the name of a variable as words: customer_name is Customer name. */
function worded(name: string): string {
  const words = name.replace(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
