// Messages of a flow as their recipient sees them.
import { useMemo } from "react";
import { useTexts } from "../../i18n";
import { useSenderName } from "../../ui/sender";
import { samplesOf } from "../send/places";
import { Preview } from "../templates/Preview";
import type { TemplateComponent } from "../templates/types";
import { filledIn, markersOf } from "../templates/variables";
import { repliesOf } from "./model";
import { formTexts } from "./texts";
import type { SendTemplate, Step, Template } from "./types";
import { useTemplates } from "./useFlows";

const contact: Record<string, string> = {
  name: "Ana Díaz",
  first_name: "Ana",
  email: "ana@example.com",
  number: "34600701234",
};

/** sampleOf is an example of a variable's value; "" where nothing tells one. */
function sampleOf(steps: Step[], name: string): string {
  return repliesOf(steps, name)[0] ?? contact[name] ?? "";
}

/** Message is a text with its choices as buttons. Variables have samples. */
export function Message({ text, choices = [], steps }: { text: string; choices?: string[]; steps: Step[] }) {
  const f = useTexts(formTexts);
  const components = useMemo<TemplateComponent[]>(
    () => [
      { type: "BODY", text },
      { type: "BUTTONS", buttons: choices.map((c) => ({ type: "QUICK_REPLY", text: c })) },
    ],
    [text, choices],
  );
  const samples = Object.fromEntries(markersOf(text).map((name, i) => ["body_text_" + i, sampleOf(steps, name)]));
  if (!text.trim()) return null;
  return <Shown label={f.preview} components={components} samples={samples} />;
}

/** TemplateMessage is a template that a step sends, with the template's samples where a value is missing. */
export function TemplateMessage({ of, steps }: { of: SendTemplate; steps: Step[] }) {
  const f = useTexts(formTexts);
  const template = useTemplateOf(of);
  if (!template) return null;
  const values = Object.entries(of.variables ?? {}).map(([key, text]) => [
    key,
    filledIn(text, (name, whole) => sampleOf(steps, name) || whole),
  ]);
  return (
    <Shown
      label={f.preview}
      components={template.components}
      values={Object.fromEntries(values)}
      samples={samplesOf(template)}
      sender={template.sender}
    />
  );
}

function Shown(p: {
  label: string;
  components: TemplateComponent[];
  values?: Record<string, string>;
  samples: Record<string, string>;
  sender?: string;
}) {
  const nameOf = useSenderName();
  return <Preview {...p} sender={p.sender && nameOf(p.sender)} />;
}

/** useTemplateOf is the approved template that a step sends. */
export function useTemplateOf(of: SendTemplate): Template | undefined {
  const all = (useTemplates().data ?? []).filter((t) => t.status === "approved" && t.name === of.name);
  return all.find((t) => t.language === of.language && (!of.sender || t.sender === of.sender)) ?? all[0];
}
