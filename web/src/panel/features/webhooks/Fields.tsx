import type { ReactNode } from "react";
import { phone } from "../../ui/number";
import { Several } from "../../ui/Several";
import { ActionIcon, Button, Checkbox, Switch, TagsInput, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { get } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { formTexts } from "./texts";
import { groups, hostOf, types, type Header, type Webhook } from "./types";
import "./webhooks.css";

export interface FieldsOf {
  value: Webhook;
  set: (change: Partial<Webhook>) => void;
  error: (field: string) => ReactNode;
}

export function UrlField({ value, set, error }: FieldsOf) {
  const t = useTexts(formTexts);
  return (
    <TextInput
      label={t.url}
      description={t.urlHelp}
      type="url"
      placeholder="https://hooks.example.com/carillon"
      spellCheck={false}
      autoComplete="off"
      data-autofocus
      value={value.url}
      onChange={(e) => set({ url: e.currentTarget.value })}
      error={error("url")}
    />
  );
}

/** TypesField is all types of events with what each means, or all there will ever be. */
export function TypesField({ value, set, error }: FieldsOf) {
  const t = useTexts(formTexts);
  const all = value.events.includes("*");
  return (
    <div className="stack">
      <Switch label={t.all} checked={all} onChange={(e) => set({ events: e.currentTarget.checked ? ["*"] : types })} />
      {!all && (
        <Checkbox.Group
          aria-label={t.choose}
          value={value.events}
          onChange={(events) => set({ events: types.filter((x) => events.includes(x)) })}
          error={error("events") || (value.events.length === 0 && t.choose)}
        >
          <div className="hook-types">
            {groups.map((g) => (
              <fieldset key={g.name}>
                <legend>{t[g.name]}</legend>
                {g.types.map((name) => (
                  <Checkbox key={name} value={name} label={t[name]} description={<code>{name}</code>} />
                ))}
              </fieldset>
            ))}
          </div>
        </Checkbox.Group>
      )}
    </div>
  );
}

/** FilterFields leave out what other campaigns and senders do. */
export function FilterFields({ value, set, error }: FieldsOf) {
  const t = useTexts(formTexts);
  const company = useCompany();
  const senders = useQuery({
    queryKey: [company.id, "senders", "names"],
    queryFn: async ({ signal }) => (await get("/senders", {}, signal)).data,
  });
  const known = (senders.data ?? []).map((s) => ({
    value: s.id,
    label: s.id === s.number ? s.id : `${s.id} · ${phone(s.number)}`,
  }));
  const lost = (value.senders ?? [])
    .filter((id) => !known.some((k) => k.value === id))
    .map((id) => ({ value: id, label: id }));
  return (
    <>
      <TagsInput
        label={t.campaigns}
        description={t.campaignsHelp}
        maxTags={100}
        acceptValueOnBlur
        value={value.campaigns ?? []}
        onChange={(campaigns) => set({ campaigns })}
        error={error("campaigns")}
      />
      <Several
        label={t.senders}
        description={t.sendersHelp}
        searchable
        data={[...known, ...lost]}
        value={value.senders ?? []}
        onChange={(chosen) => set({ senders: chosen })}
        error={error("senders")}
      />
      <Switch
        label={t.ordered}
        description={t.orderedHelp}
        checked={value.ordered ?? false}
        onChange={(e) => set({ ordered: e.currentTarget.checked })}
      />
    </>
  );
}

/** HeaderFields are those of every request. before is the address whose server knows the stored values. */
export function HeaderFields({
  value,
  set,
  error,
  before,
  stored = [],
}: FieldsOf & { before?: string; stored?: Header[] }) {
  const t = useTexts(formTexts);
  const list = value.headers ?? [];
  const change = (i: number, to: Partial<Header>) =>
    set({ headers: list.map((h, k) => (k === i ? { ...h, ...to } : h)) });
  const moved = before !== undefined && hostOf(before) !== hostOf(value.url);
  const isStored = (h: Header) => !moved && stored.some((s) => s.name.toLowerCase() === h.name.toLowerCase());
  return (
    <div className="hook-headers" role="group" aria-label={t.headers}>
      <div>
        <span className="field-label">{t.headers}</span>
        <span className="small muted">{t.headersHelp}</span>
      </div>
      {moved && stored.length > 0 && (
        <p className="small" role="status" style={{ margin: 0, color: "var(--warn)" }}>
          {t.again}
        </p>
      )}
      {list.map((h, i) => (
        <div key={i} className="hook-header">
          <TextInput
            aria-label={`${t.header} ${i + 1}`}
            placeholder={t.header}
            spellCheck={false}
            autoComplete="off"
            value={h.name}
            onChange={(e) => change(i, { name: e.currentTarget.value })}
            error={error(`headers.${i}.name`)}
          />
          <TextInput
            aria-label={`${t.value} ${i + 1}`}
            placeholder={isStored(h) ? t.stored : t.value}
            spellCheck={false}
            autoComplete="off"
            value={h.value ?? ""}
            onChange={(e) => change(i, { value: e.currentTarget.value || undefined })}
            error={error(`headers.${i}.value`)}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={fill(t.dropHeader, { name: h.name || String(i + 1) })}
            onClick={() => set({ headers: list.filter((_, k) => k !== i) })}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </div>
      ))}
      {list.length < 20 && (
        <div>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconPlus size={14} />}
            onClick={() => set({ headers: [...list, { name: "" }] })}
          >
            {t.addHeader}
          </Button>
        </div>
      )}
    </div>
  );
}

/** tidied is an endpoint as it is stored: nothing empty. */
export function tidied(w: Webhook): Webhook {
  const headers = (w.headers ?? []).filter((h) => h.name.trim() !== "").map((h) => ({ ...h, name: h.name.trim() }));
  return {
    ...w,
    url: w.url.trim(),
    campaigns: w.campaigns?.length ? w.campaigns : undefined,
    senders: w.senders?.length ? w.senders : undefined,
    headers: headers.length ? headers : undefined,
  };
}
