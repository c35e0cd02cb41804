import { useSenderName } from "../../ui/sender";
import { phone } from "../../ui/number";
import { Button, SegmentedControl, Select, TextInput } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconSend2 } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useRef, useState, type ReactNode } from "react";
import { Problem } from "../../api";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCompany, useMe } from "../../session";
import { Ago } from "../../ui/Ago";
import { saveBar } from "../../ui/draft";
import { forget, kept, useKept } from "../../ui/kept";
import { Card, Note, Page } from "../../ui/parts";
import { failed, problemText, succeeded, why } from "../../ui/problem";
import { BodyField } from "./BodyField";
import { ButtonsField } from "./ButtonsField";
import { Counter } from "./Counter";
import { editorTexts, texts } from "./texts";
import { CodeFields } from "./CodeFields";
import { DeadlineField } from "./DeadlineField";
import { ExtrasField } from "./ExtrasField";
import { componentsOf, fieldOf, isCode, nextVariable, sampleValues, type Form, type HeaderKind } from "./form";
import { choices } from "./languages";
import { Preview } from "./Preview";
import { advice, limits, problemsOf, type Rule } from "./rules";
import { categories, editable, type MessagingSender, type TemplateRow } from "./types";
import { useTemplateChanges } from "./useTemplates";
import { markersOf } from "./variables";

interface Props {
  stored?: TemplateRow;
  copied?: TemplateRow;
  initial: Form;
  senders: MessagingSender[];
  name: string;
  title: string;
  back: { to: string; text: string };
}

const header: HeaderKind[] = ["NONE", "TEXT", "IMAGE", "VIDEO", "DOCUMENT", "LOCATION", "PRODUCT"];

/** Editor writes a template next to what it looks like. What is written is kept in the browser until it is saved. */
export function Editor({ stored, copied, initial, senders, name, title, back }: Props) {
  const senderName = useSenderName();
  const t = useTexts(editorTexts);
  const l = useTexts(texts);
  const language = useLanguage();
  const company = useCompany();
  const me = useMe();
  const navigate = useNavigate();
  const client = useQueryClient();
  const { create, edit, submit } = useTemplateChanges();
  const box = useRef<HTMLDivElement>(null);
  const place = `template.${company.id}.${me.account.id}.${name}`;
  const [base, setBase] = useState(initial); // as it was opened: what others change meanwhile is noticed when it is saved
  const [version, setVersion] = useState(stored);
  const [before, setBefore] = useState(() => kept<Form>(place));
  const [form, setForm] = useState(() => (before ? { ...initial, ...before.value } : initial));
  const [left, setLeft] = useState<Set<string>>(new Set());
  const [tried, setTried] = useState(false);
  const [said, setSaid] = useState<{ field: string; text: ReactNode }>();
  const [busy, setBusy] = useState<"save" | "submit">();
  const [scheme, setScheme] = useState<"light" | "dark">("light");
  const dirty = useMemo(() => JSON.stringify(bare(form)) !== JSON.stringify(bare(base)), [form, base]);
  const isKept = useKept(place, form, version?.version ?? "", dirty && !busy);
  const problems = useMemo(() => problemsOf(form), [form]);
  const free = !stored || (stored.status === "draft" && !stored.provider_id);

  const set = (to: Partial<Form>) => {
    setForm((f) => ({ ...f, ...to }));
    setSaid(undefined);
  };
  const leave = (field: string) => setLeft((s) => (s.has(field) ? s : new Set(s).add(field)));
  const error = (field: string): ReactNode => {
    if (said?.field === field) return said.text;
    const p = problems[field];
    // A fault shown when a field is left would move what the click is about to hit.
    if (!p || (!tried && (p.rule === "required" || (p.rule === "open" && !left.has(field))))) return undefined;
    return ruleText(t, p);
  };
  const wrong = Object.keys(problems).length;

  const save = async (then: "save" | "submit") => {
    if (busy || over) return;
    if (wrong > 0) {
      setTried(true);
      requestAnimationFrame(() => box.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      return;
    }
    setBusy(then);
    let saved: TemplateRow;
    try {
      saved = stored ? await edit(version!, form, false) : await create(form, false);
    } catch (e) {
      const field =
        e instanceof Problem ? (e.field ? fieldOf(form, e.field) : e.status === 409 && !stored ? "name" : "") : "";
      if (field)
        setSaid({
          field,
          text: e instanceof Problem && e.status === 409 ? t.taken : e instanceof Problem ? why(e) : problemText(e),
        });
      if (stored && e instanceof Problem && e.status === 409)
        void client.invalidateQueries({ queryKey: [company.id, "templates", stored.id], exact: true }); // what changed is shown
      failed(e);
      setBusy(undefined);
      return;
    }
    forget(place);
    try {
      // what is saved stays saved when the channel does not take it
      if (then === "submit") await submit(saved.id);
      succeeded(then === "submit" ? l.submitted_told : t.saved);
    } catch (e) {
      failed(e);
    }
    void navigate({ to: "/templates/$id", params: { id: saved.id }, replace: true });
  };
  useHotkeys(
    [
      ["mod+S", () => void save("save")],
      ["mod+Enter", () => void save("submit")],
    ],
    [],
  );
  const startOver = () => {
    forget(place);
    setBefore(undefined);
    setForm(initial);
    setBase(initial);
    setVersion(stored);
    setTried(false);
    setLeft(new Set());
    setSaid(undefined);
  };
  const keepMine = () => {
    setBase(initial);
    setVersion(stored);
  };
  const over = !!stored && !editable(stored); // the channel has decided meanwhile
  const changed = !!stored && !over && stored.version !== version?.version && !busy;
  const variables = markersOf(form.body);
  const hints = error("body")
    ? []
    : advice(form)
        .filter((a) => a !== "twins")
        .map((a) => t[a]);
  const provider = senders.find((s) => s.id === form.sender)?.provider ?? stored?.provider;
  const words = (
    <>
      <Header form={form} set={set} error={error} left={leave} handle={provider === "whatsapp"} />
      <BodyField
        value={form.body}
        change={(body) => set({ body })}
        left={() => leave("body")}
        next={nextVariable(form)}
        error={error("body")}
        advice={hints}
      />
      {variables.length > 0 && (
        <div className="templates-samples" role="group" aria-label={t.samples}>
          <span className="field-label">{t.samples}</span>
          <p className="templates-help small muted">{t.samplesHelp}</p>
          {variables.map((v) => (
            <div key={v} className="templates-sample">
              <span className="templates-chip" aria-hidden="true">{`{{${v}}}`}</span>
              <TextInput
                aria-label={fill(t.sampleOf, { name: `{{${v}}}` })}
                placeholder={t.samplePlaceholder}
                value={form.samples[v] ?? ""}
                maxLength={1024}
                error={error("samples." + v)}
                onChange={(e) => set({ samples: { ...form.samples, [v]: e.currentTarget.value } })}
              />
            </div>
          ))}
        </div>
      )}
      <TextInput
        label={
          <>
            {t.footer} <span className="muted templates-optional">{t.optional}</span>
          </>
        }
        value={form.footer}
        maxLength={120}
        error={error("footer")}
        onChange={(e) => set({ footer: e.currentTarget.value })}
        rightSection={<Counter text={form.footer} most={limits.footer} />}
        rightSectionWidth={64}
        rightSectionPointerEvents="none"
      />
      <ButtonsField
        buttons={form.buttons}
        change={(buttons) => set({ buttons })}
        error={error}
        left={leave}
        provider={provider}
      />
      {advice(form).includes("twins") && <p className="templates-advice small">{t.twins}</p>}
      <ExtrasField form={form} set={set} error={error} left={leave} handle={provider === "whatsapp"} />
    </>
  );
  return (
    <Page title={title} back={back}>
      {before && (
        <div className="templates-kept">
          <Note tone={before.mark !== (version?.version ?? "") ? "warn" : undefined}>
            <p>
              {t.keptText} (<Ago at={before.at} />
              ). {before.mark !== (version?.version ?? "") && t.keptOld}{" "}
              <button type="button" className="templates-link-button" onClick={startOver}>
                {t.startOver}
              </button>
            </p>
          </Note>
        </div>
      )}
      {over && !busy && (
        <div className="templates-kept">
          <Note tone="warn">
            <p>{fill(t.overText, { status: l[stored.status] })}</p>
          </Note>
        </div>
      )}
      {changed && (
        <div className="templates-kept" role="status">
          <Note tone="warn">
            <p>{t.changedText}</p>
            <Button.Group mt={8}>
              <Button size="compact-sm" variant="default" onClick={keepMine}>
                {t.keepMine}
              </Button>
              <Button size="compact-sm" variant="default" onClick={startOver}>
                {t.takeTheirs}
              </Button>
            </Button.Group>
          </Note>
        </div>
      )}
      {copied && !before && (
        <div className="templates-kept">
          <Note>{fill(t.copyText, { language: copied.language })}</Note>
        </div>
      )}
      {stored?.status === "pending" && (
        <div className="templates-kept">
          <Note tone="warn">{t.pendingText}</Note>
        </div>
      )}
      <div className="templates-editor" ref={box}>
        <Card label={title}>
          <h2 className="hidden">{l.template}</h2>
          <div className="templates-form">
            {!stored && senders.length > 1 && (
              <Select
                label={l.sender}
                description={t.senderHelp}
                allowDeselect={false}
                data={senders.map((s) => ({ value: s.id, label: `${s.id} · ${phone(s.number)}` }))}
                value={form.sender}
                onChange={(v) => set({ sender: v ?? form.sender })}
                error={error("sender")}
              />
            )}
            <div className="pair templates-labels">
              <TextInput
                label={l.name}
                description={free ? t.nameHelp : t.fixed}
                placeholder="order_update"
                spellCheck={false}
                autoComplete="off"
                autoFocus={!stored && !copied}
                disabled={!free}
                value={form.name}
                maxLength={520}
                error={error("name")}
                onChange={(e) => set({ name: e.currentTarget.value.toLowerCase().replace(/[\s-]+/g, "_") })}
              />
              <Select
                label={l.language}
                description={free ? t.languageHelp : t.fixed}
                searchable
                disabled={!free}
                allowDeselect={false}
                autoFocus={!!copied}
                placeholder={t.chooseLanguage}
                data={choices(language, form.language)}
                value={form.language || null}
                error={error("language")}
                onChange={(v) => set({ language: v ?? "" })}
                maxDropdownHeight={300}
              />
            </div>
            <div>
              <span className="field-label" id="template-category">
                {l.category}
              </span>
              <SegmentedControl
                aria-labelledby="template-category"
                className="templates-segments"
                value={form.category}
                onChange={(v) => set({ category: v })}
                data={categories.map((c) => ({ value: c, label: l[c] }))}
              />
              <p className="templates-help small muted">{t[`${form.category as "UTILITY"}_help`]}</p>
            </div>
            {isCode(form) ? (
              <CodeFields code={form.code} change={(to) => set({ code: { ...form.code, ...to } })} error={error} />
            ) : (
              words
            )}
            <DeadlineField form={form} set={set} error={error} />
          </div>
        </Card>
        <div className="templates-side">
          <div className="templates-side-head">
            <span className="field-label">{t.preview}</span>
            <SegmentedControl
              size="xs"
              aria-label={t.scheme}
              value={scheme}
              onChange={(v) => setScheme(v)}
              data={[
                { value: "light", label: t.light },
                { value: "dark", label: t.dark },
              ]}
            />
          </div>
          <Preview
            components={componentsOf(form)}
            values={sampleValues(form)}
            scheme={scheme}
            sender={senderName(form.sender || stored?.sender)}
          />
        </div>
      </div>
      <div className={`${saveBar} templates-finish`} data-save-bar="" role="region" aria-label={t.finish}>
        <span className="muted templates-bar">
          {wrong > 0 && tried ? (
            <span className="templates-error">{wrong === 1 ? t.oneWrong : fill(t.someWrong, { n: wrong })}</span>
          ) : dirty ? (
            isKept ? (
              t.isKept
            ) : (
              t.unsaved
            )
          ) : (
            ""
          )}
        </span>
        <Button variant="default" loading={busy === "save"} disabled={!!busy || over} onClick={() => void save("save")}>
          {t.saveDraft}
        </Button>
        <Button
          leftSection={<IconSend2 size={16} />}
          loading={busy === "submit"}
          disabled={!!busy || over}
          onClick={() => void save("submit")}
        >
          {l.submit}
        </Button>
      </div>
    </Page>
  );
}

/** bare is a form without the keys that its buttons have in the page. */
function bare(f: Form) {
  return JSON.parse(JSON.stringify(f, (name, value: unknown) => (name === "key" ? undefined : value))) as unknown;
}

function ruleText(t: Record<string, string>, p: Rule): string {
  return fill(t[`rule_${p.rule}`] ?? "", { n: p.n ?? 0 });
}

function Header({
  form,
  set,
  error,
  left,
  handle,
}: {
  form: Form;
  set: (to: Partial<Form>) => void;
  error: (field: string) => ReactNode;
  left: (field: string) => void;
  handle: boolean;
}) {
  const t = useTexts(editorTexts);
  const h = form.header;
  const put = (to: Partial<Form["header"]>) => set({ header: { ...h, ...to } });
  const variable = h.kind === "TEXT" ? markersOf(h.text)[0] : undefined;
  return (
    <div className="templates-header">
      <div>
        <span className="field-label" id="template-header">
          {t.header} <span className="muted templates-optional">{t.optional}</span>
        </span>
        <SegmentedControl
          aria-labelledby="template-header"
          className="templates-segments"
          value={h.kind}
          onChange={(v) => put({ kind: v })}
          data={header.map((k) => ({ value: k, label: t[k] }))}
        />
      </div>
      {h.kind === "TEXT" && (
        <TextInput
          label={t.headerText}
          description={t.headerHelp}
          value={h.text}
          maxLength={120}
          error={error("header")}
          onBlur={() => left("header")}
          onChange={(e) => put({ text: e.currentTarget.value })}
          rightSection={<Counter text={h.text} most={limits.header} />}
          rightSectionWidth={64}
          rightSectionPointerEvents="none"
        />
      )}
      {variable && (
        <TextInput
          label={fill(t.sampleOf, { name: `{{${variable}}}` })}
          value={h.sample}
          maxLength={60}
          onChange={(e) => put({ sample: e.currentTarget.value })}
        />
      )}
      {(h.kind === "LOCATION" || h.kind === "PRODUCT") && (
        <p className="templates-help small muted">{h.kind === "LOCATION" ? t.locationHelp : t.productHelp}</p>
      )}
      {(h.kind === "IMAGE" || h.kind === "VIDEO" || h.kind === "DOCUMENT") && (
        <>
          <p className="templates-help small muted">{t.mediaHelp}</p>
          {handle && (
            <TextInput
              label={t.handle}
              description={t.handleHelp}
              spellCheck={false}
              autoComplete="off"
              value={h.handle}
              maxLength={2000}
              error={error("header.handle")}
              onChange={(e) => put({ handle: e.currentTarget.value })}
            />
          )}
        </>
      )}
    </div>
  );
}
