import { useSenderName } from "../../ui/sender";
import { Button, SegmentedControl, Select, TextInput } from "@mantine/core";
import { IconChecklist } from "@tabler/icons-react";
import { useMemo, useState, type ReactNode } from "react";
import { Problem } from "../../api";
import { fill, useTexts } from "../../i18n";
import { Card, Note } from "../../ui/parts";
import { failed, why } from "../../ui/problem";
import { Preview } from "../templates/Preview";
import { jobTexts, texts } from "./texts";
import { Mapping } from "./Mapping";
import { seconds, shownValues } from "./message";
import { fieldsOf, samplesOf } from "./places";
import { TemplateField } from "./TemplateField";
import { forFiles, kindOf, kinds, type Settings, type Template } from "./types";
import type { useEdits, useJob } from "./useJob";
import { ownZone, When } from "./When";

type Edits = ReturnType<typeof useEdits>;

/** JobEditor says what is sent to whom: the columns, the template, its variables, and when. */
export function JobEditor({
  templates,
  edits,
  act,
}: {
  templates: Template[];
  edits: Edits;
  act: ReturnType<typeof useJob>["act"];
}) {
  const t = useTexts(jobTexts);
  const one = useTexts(texts);
  const { settings: s, edit, store, fault, setFault } = edits;
  const [busy, setBusy] = useState(false);
  const template = templates.find((x) => x.name === s.template && x.language === s.language && x.sender === s.sender);
  const at = (field: string) =>
    fault?.field === field || fault?.field.startsWith(field + ".") ? fault.text : undefined;
  const check = async () => {
    setBusy(true);
    try {
      if (await store()) await act("check");
    } catch (e) {
      if (e instanceof Problem && e.field) {
        setFault({ field: e.field, text: why(e) });
        requestAnimationFrame(() => document.querySelector<HTMLElement>('.send-job [aria-invalid="true"]')?.focus());
      } else failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Card
        title={t.columns}
        actions={
          <span className="muted small">
            {s.encoding === "Excel"
              ? t.workbook
              : fill(t.readAs, {
                  encoding: s.encoding,
                  delimiter:
                    (t as Record<string, string>)[{ ",": "comma", ";": "semicolon", "\t": "tab" }[s.delimiter] ?? ""] ??
                    s.delimiter,
                })}
          </span>
        }
      >
        <p className="muted send-none">{t.columnsText}</p>
        <Mapping settings={s} edit={edit} fault={at("number") ? t.whichNumber : at("fields")} />
      </Card>
      <div className="send-split">
        <Card title={t.message}>
          <div className="stack">
            <TemplateField
              all={forFiles(templates)}
              value={template}
              error={at("template") ?? at("sender")}
              change={(x) =>
                edit(
                  {
                    template: x?.name ?? "",
                    language: x?.language ?? "",
                    sender: x?.sender ?? "",
                    ...(x ? { type: kindOf(x) } : {}),
                  },
                  0,
                )
              }
            />
            {template && <Sources settings={s} template={template} edits={edits} at={at} />}
            <When
              at={(s.datetime_sending ?? "").slice(0, 16)}
              zone={s.timezone || ownZone}
              error={at("datetime_sending") ?? at("timezone")}
              change={(to) => edit({ datetime_sending: to.at && seconds(to.at), timezone: to.zone })}
            />
            <details
              className="send-more"
              open={s.event || s.campaign || at("campaign") || at("type") || at("event") ? true : undefined}
            >
              <summary>{one.moreOptions}</summary>
              <div className="stack">
                <div className="send-pair">
                  <TextInput
                    label={one.campaign}
                    description={t.campaignHelp}
                    inputWrapperOrder={["label", "input", "description", "error"]}
                    value={s.campaign}
                    error={at("campaign") ?? at("campaign_name")}
                    maxLength={255}
                    onChange={(e) => edit({ campaign: e.currentTarget.value })}
                  />
                  <Select
                    label={one.kind}
                    description={one.kindHelp}
                    inputWrapperOrder={["label", "input", "description", "error"]}
                    allowDeselect={false}
                    data={kinds.map((k) => ({ value: k, label: one[k] }))}
                    value={s.type || null}
                    error={at("type")}
                    onChange={(v) => v && edit({ type: v }, 0)}
                  />
                </div>
                <TextInput
                  label={one.event}
                  description={one.eventHelp}
                  inputWrapperOrder={["label", "input", "description", "error"]}
                  value={s.event ?? ""}
                  error={at("event") ?? at("name_event")}
                  maxLength={255}
                  onChange={(e) => edit({ event: e.currentTarget.value })}
                />
              </div>
            </details>
            {fault &&
              ![
                "number",
                "fields",
                "template",
                "sender",
                "campaign",
                "campaign_name",
                "type",
                "datetime_sending",
                "timezone",
                "event",
                "name_event",
                "values",
              ].includes(fault.field.split(".")[0]!) && (
                <Note tone="danger">
                  <p>{fault.text}</p>
                </Note>
              )}
            <div className="send-actions">
              <Button onClick={() => void check()} loading={busy} leftSection={<IconChecklist size={16} />}>
                {t.check}
              </Button>
            </div>
          </div>
        </Card>
        <aside className="send-preview" aria-label={one.preview}>
          {template ? (
            <First settings={s} template={template} />
          ) : (
            <p className="muted send-no-preview">{one.noPreview}</p>
          )}
        </aside>
      </div>
    </>
  );
}

/** First is the message to the first person of the file. */
function First({ settings: s, template }: { settings: Settings; template: Template }) {
  const senderName = useSenderName();
  const t = useTexts(jobTexts);
  const values = useMemo(() => {
    const first = Object.fromEntries(s.columns.map((c) => [c.key, c.samples[0] ?? ""]));
    return shownValues(
      Object.fromEntries(
        Object.entries(s.values).map(([key, v]) => [
          key,
          v.column === undefined ? (v.text ?? "") : (s.columns[v.column]?.samples[0] ?? ""),
        ]),
      ),
      first,
    );
  }, [s]);
  return (
    <>
      <Preview
        components={template.components}
        values={values}
        samples={samplesOf(template)}
        sender={senderName(template.sender)}
      />
      <p className="muted small send-caption">{t.firstRow}</p>
    </>
  );
}

/** Sources are where the values of a template's variables come from. */
function Sources({
  settings: s,
  template,
  edits,
  at,
}: {
  settings: Settings;
  template: Template;
  edits: Edits;
  at: (field: string) => ReactNode;
}) {
  const t = useTexts(jobTexts);
  const one = useTexts(texts);
  const places = fieldsOf(one, template.components);
  const set = (key: string, v: Settings["values"][string], ms?: number) =>
    edits.edit({ values: { ...s.values, [key]: v } }, ms);
  if (places.length === 0) return <p className="muted small send-none">{one.noVariables}</p>;
  return (
    <div className="send-sources" role="group" aria-label={one.variables}>
      {places.map((p) => {
        const v = s.values[p.key],
          name = p.label,
          own = v !== undefined && v.column === undefined;
        return (
          <div key={p.key} className="send-source">
            <span className="field-label" id={"source-" + p.key}>
              {name}
            </span>
            <SegmentedControl
              size="xs"
              aria-labelledby={"source-" + p.key}
              value={own ? "text" : "column"}
              data={[
                { value: "column", label: t.fromColumn },
                { value: "text", label: t.sameForAll },
              ]}
              onChange={(k) => set(p.key, k === "text" ? { text: "" } : { column: 0 }, 0)}
            />
            <div>
              {own ? (
                <TextInput
                  aria-label={fill(t.textOf, { name })}
                  value={v.text ?? ""}
                  error={at("values." + p.key)}
                  placeholder={p.part === "media" ? "https://…" : t.orPlaceholder}
                  maxLength={1024}
                  onChange={(e) => set(p.key, { text: e.currentTarget.value })}
                />
              ) : (
                <Select
                  aria-label={fill(t.columnOf, { name })}
                  placeholder={t.chooseColumn}
                  error={at("values." + p.key)}
                  allowDeselect={false}
                  searchable={s.columns.length > 8}
                  value={v?.column === undefined ? null : String(v.column)}
                  data={s.columns.map((c, i) => ({ value: String(i), label: c.name }))}
                  onChange={(i) => i !== null && set(p.key, { column: Number(i) }, 0)}
                />
              )}
            </div>
          </div>
        );
      })}
    </div>
  );
}
