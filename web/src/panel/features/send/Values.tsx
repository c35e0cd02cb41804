import { Button, Menu, TextInput } from "@mantine/core";
import { IconBraces, IconWand } from "@tabler/icons-react";
import { useRef, type ChangeEvent, type ReactNode } from "react";
import { useTexts } from "../../i18n";
import { fieldsOf } from "./places";
import { texts } from "./texts";
import type { Template } from "./types";

/** Values are the values of a template's variables. A value may be a field of the contact. */
export function Values({
  template,
  values,
  change,
  faults,
}: {
  template: Template;
  values: Record<string, string>;
  change: (some: Record<string, string>) => void;
  faults: Record<string, ReactNode>;
}) {
  const t = useTexts(texts);
  const fields = fieldsOf(t, template.components);
  const last = useRef(""); // the field that the menu fills in
  const texted = fields.filter((f) => f.part !== "media");
  if (fields.length === 0) return <p className="muted small send-none">{t.noVariables}</p>;
  const open = texted.filter((f) => f.sample && !values[f.key]?.trim());
  const insert = (name: string) => {
    const field =
      texted.find((f) => f.key === last.current) ?? texted.find((f) => !values[f.key]?.trim()) ?? texted[0]!;
    change({ [field.key]: `{{ ${name} }}` });
    last.current = field.key;
    requestAnimationFrame(() => document.getElementById("value-" + field.key)?.focus());
  };
  return (
    <div className="send-values" role="group" aria-label={t.variables}>
      <div className="send-values-head">
        <span className="field-label">{t.variables}</span>
        {open.length > 0 && (
          <Button
            className="send-examples"
            size="compact-xs"
            variant="subtle"
            color="gray"
            leftSection={<IconWand size={14} />}
            onClick={() => change(Object.fromEntries(open.map((f) => [f.key, f.sample])))}
          >
            {t.useExamples}
          </Button>
        )}
        {texted.length > 0 && (
          <Menu position="bottom-end" withinPortal returnFocus={false}>
            <Menu.Target>
              <Button size="compact-xs" variant="subtle" color="gray" leftSection={<IconBraces size={14} />}>
                {t.insert}
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              {(["first_name", "name"] as const).map((name) => (
                <Menu.Item key={name} onClick={() => insert(name)} rightSection={<code>{`{{ ${name} }}`}</code>}>
                  {t[`insert_${name}`]}
                </Menu.Item>
              ))}
            </Menu.Dropdown>
          </Menu>
        )}
      </div>
      {fields.map((f) => (
        <TextInput
          key={f.key}
          id={"value-" + f.key}
          label={f.label}
          error={faults[f.key]}
          maxLength={4096}
          inputMode={f.part === "media" || f.counted ? "url" : undefined}
          placeholder={f.part === "media" || f.counted ? "https://…" : f.sample}
          inputWrapperOrder={["label", "description", "error", "input"]}
          onFocus={() => (last.current = f.key)}
          description={f.part === "products" ? t.productsHelp : undefined}
          {...(f.part === "offer"
            ? {
                type: "datetime-local",
                value: localTime(values[f.key] ?? ""),
                onChange: (e: ChangeEvent<HTMLInputElement>) => change({ [f.key]: instant(e.currentTarget.value) }),
              }
            : {
                value: values[f.key] ?? "",
                onChange: (e: ChangeEvent<HTMLInputElement>) => change({ [f.key]: e.currentTarget.value }),
              })}
        />
      ))}
    </div>
  );
}

/** localTime is an instant as a field of the type datetime-local has it, in the zone of the browser. */
function localTime(text: string): string {
  const at = new Date(text);
  if (!text || Number.isNaN(at.getTime())) return "";
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function instant(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString();
}
