import { fill } from "../i18n";
import { English } from "./English";
import forms from "./sentences.json";
import { sentences } from "./texts";

/** Form is one wording of a sentence: its name, and the pattern with its values. */
interface Form {
  name: string;
  pattern: RegExp;
}

const all: Form[] = forms.flatMap((s) => s.forms.map((form) => ({ name: s.name, pattern: patternOf(form) })));

// The first letter is of either case, because a sentence may stand within another one.
function patternOf(form: string): RegExp {
  const quoted = form.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{(\w+)\}/g, "(?<$1>.+)");
  return new RegExp(`^[${form[0]}${form[0]!.toLowerCase()}]${quoted.slice(1)}$`, "s");
}

/** told is a sentence that the server stored, in the language of the page; "" if it is none of the known ones. */
export function told(text: string): string {
  for (const { name, pattern } of all) {
    const found = pattern.exec(text);
    if (!found) continue;
    const values = Object.entries(found.groups ?? {}).map(([key, value]) => [key, told(value) || value]);
    return fill((sentences.now as Record<string, string>)[name]!, Object.fromEntries(values) as Record<string, string>);
  }
  return "";
}

/** Told shows a sentence of the server in the language of the page, or marked as English if it is not known. */
export function Told({ text }: { text: string }) {
  const known = told(text);
  return known ? <>{known}</> : <English>{text}</English>;
}
