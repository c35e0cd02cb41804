import { Button, TextInput } from "@mantine/core";
import { fill, useTexts } from "../../i18n";
import { texts } from "./texts";
import type { Template } from "./types";
import { placesOf, type Place } from "../templates/variables";

/** placeName says what a variable is for. */
export function placeName(t: Record<string, string>, p: Place): string {
  if (p.part === "media") return t[p.name] ?? p.name;
  if (p.part === "header") return fill(t.headerValue!, { name: p.name });
  if (p.part === "button") return fill(t.buttonValue!, { n: p.n + 1 });
  return fill(t.bodyValue!, { name: p.name });
}

/** Values are the values of a template's variables. A value may be a field of the contact. */
export function Values({
  template,
  values,
  change,
  faults,
  contact,
}: {
  template: Template;
  values: Record<string, string>;
  change: (key: string, text: string) => void;
  faults: Record<string, string>;
  contact: { name: string; label: string }[];
}) {
  const t = useTexts(texts);
  const places = placesOf(template.components);
  if (places.length === 0) return <p className="muted small send-none">{t.noVariables}</p>;
  return (
    <div className="stack send-values" role="group" aria-label={t.variables}>
      {places.map((p) => (
        <div key={p.key}>
          <TextInput
            id={"value-" + p.key}
            label={placeName(t, p)}
            value={values[p.key] ?? ""}
            error={faults[p.key]}
            maxLength={4096}
            inputMode={p.part === "media" ? "url" : undefined}
            placeholder={p.part === "media" ? "https://…" : undefined}
            onChange={(e) => change(p.key, e.currentTarget.value)}
          />
          {p.part !== "media" && !values[p.key] && (
            <div className="send-insert">
              {contact.map((c) => (
                <Button
                  key={c.name}
                  size="compact-xs"
                  variant="subtle"
                  color="gray"
                  title={c.label}
                  aria-label={fill(t.insertInto, { field: `{{ ${c.name} }}`, into: placeName(t, p) })}
                  onClick={() => {
                    change(p.key, `{{ ${c.name} }}`);
                    document.getElementById("value-" + p.key)?.focus();
                  }}
                >{`{{ ${c.name} }}`}</Button>
              ))}
            </div>
          )}
        </div>
      ))}
    </div>
  );
}
