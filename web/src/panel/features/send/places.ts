// The fields of a template's variables, named by what the template says about them.
import { fill } from "../../i18n";
import { formOf, sampleValues } from "../templates/form";
import type { TemplateComponent } from "../templates/types";
import { placesOf, type Place } from "../templates/variables";

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
  const buttons = components.find((c) => c.type === "BUTTONS")?.buttons ?? [];
  return placesOf(components).map((p) => {
    const sample = p.part === "media" ? "" : (samples[p.key] ?? "");
    const label = nameOf(t, p, buttons[p.n]?.text ?? "", sample);
    const short = sample.length > shown ? sample.slice(0, shown - 1) + "…" : sample;
    return { ...p, sample, label: sample ? fill(t.withSample!, { label, sample: short }) : label };
  });
}

function nameOf(t: Record<string, string>, p: Place, button: string, sample: string): string {
  const numbered = /^\d+$/.test(p.name);
  const name = numbered ? `{{${p.name}}}` : worded(p.name);
  if (p.part === "media") return t[p.name] ?? p.name;
  if (p.part === "header") return fill(t.headerValue!, { name });
  if (p.part === "button") return fill(t.buttonValue!, { text: button });
  return numbered && !sample ? fill(t.bodyValue!, { name: p.name }) : name;
}

/** worded is the name of a variable as words: customer_name is Customer name. */
function worded(name: string): string {
  const words = name.replace(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
