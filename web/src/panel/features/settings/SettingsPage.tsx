import "./settings.css";
import { Button, Checkbox, Switch, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { get, Problem, put } from "../../api";
import { number } from "../../format";
import { useLanguage, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { Needs } from "../../shell/states";
import { SaveBar, useDraft, type Draft } from "../../ui/draft";
import { Card, Copy, Failed, Forms, Note, Page, Rows } from "../../ui/parts";
import { seconds } from "../lines/trunk";
import { TeamCard } from "../notices/TeamCard";
import { HoursCard } from "./HoursCard";
import { texts } from "./texts";
import { limitNames, type CompanySettings, type Limits } from "./types";

export function SettingsPage() {
  return (
    <Needs permission="settings:read">
      <Loaded />
    </Needs>
  );
}

function Loaded() {
  const t = useTexts(texts);
  const company = useCompany();
  const [round, setRound] = useState(0);
  const one = useQuery({ queryKey: [company.id, "settings"], queryFn: ({ signal }) => get("/company", {}, signal) });
  if (one.data)
    return (
      <Editor key={round} stored={one.data} reload={() => void one.refetch().then(() => setRound((n) => n + 1))} />
    );
  return (
    <Page title={t.title}>
      {one.isError ? (
        <Failed error={one.error} retry={() => void one.refetch()} />
      ) : (
        <div className="stack">
          <Rows n={2} />
          <Rows n={3} />
        </div>
      )}
    </Page>
  );
}

function Editor({ stored, reload }: { stored: CompanySettings; reload: () => void }) {
  const t = useTexts(texts);
  const company = useCompany();
  const client = useQueryClient();
  const may = useCan();
  const can = may("settings:write");
  const answers = may("conversations:answer");
  const [stale, setStale] = useState(false);
  const send = useCallback(
    async ({ id: _, limits_writable: open, limits, ...x }: CompanySettings) => {
      try {
        const kept = await put("/company", { ...x, ...(open ? { limits } : {}) });
        client.setQueryData([company.id, "settings"], kept);
        void client.invalidateQueries({ queryKey: ["me"] });
        return kept;
      } catch (e) {
        if (e instanceof Problem && e.word === "changed_meanwhile") setStale(true);
        throw e;
      }
    },
    [client, company.id],
  );
  const draft = useDraft(stored, send);
  const { value: c, set, error } = draft;
  return (
    <Page title={t.title}>
      {stale && (
        <div style={{ marginBottom: 16 }}>
          <Note tone="warn">
            <p>
              <b>{t.changed}</b> {t.changedText}
            </p>
            <Button size="compact-sm" variant="default" mt={8} onClick={reload}>
              {t.reload}
            </Button>
          </Note>
        </div>
      )}
      <Forms disabled={!can}>
        <Card title={t.company}>
          <div className="form">
            <TextInput
              label={t.name}
              description={t.nameHelp}
              value={c.name}
              onChange={(e) => set({ name: e.currentTarget.value })}
              error={error("name")}
            />
            {c.name.trim() !== stored.name && (
              <Note>
                <p>{t.renameNote}</p>
              </Note>
            )}
            <div className="settings-id">
              <span className="muted">{t.id}</span> <code>{c.id}</code>
              <Copy value={c.id} label={t.copyId} />
            </div>
            <Switch
              label={t.strict}
              description={t.strictHelp}
              checked={c.strict_recipient_id}
              onChange={(e) => set({ strict_recipient_id: e.currentTarget.checked })}
            />
          </div>
        </Card>
        <HoursCard draft={draft} can={can} />
        <RedialCard draft={draft} />
        <Card title={t.kept}>
          <div className="form">
            <TextInput
              label={t.days_kept}
              description={t.daysHelp}
              type="number"
              min={0}
              value={c.retention_days}
              onChange={(e) => set({ retention_days: whole(e.currentTarget.value) })}
              error={error("retention_days")}
            />
            <TextInput
              label={t.recording_days}
              description={t.recordingDaysHelp}
              type="number"
              min={0}
              value={c.recording_days}
              onChange={(e) => set({ recording_days: whole(e.currentTarget.value) })}
              error={error("recording_days")}
            />
            <p className="small muted flat">{t.keptNote}</p>
          </div>
        </Card>
        <LimitsCard draft={draft} can={can} />
        <Card title={t.unknown}>
          <p className="flat">
            {t.unknownText} <Link to="/senders">{t.toSenders}</Link>
          </p>
        </Card>
      </Forms>
      {answers && (
        <Forms>
          <TeamCard can={can} />
        </Forms>
      )}
      <SaveBar draft={draft} />
    </Page>
  );
}

const whole = (text: string): number => Math.max(0, Math.trunc(Number(text) || 0));
const outcomes = ["busy", "no_answer", "rejected", "voicemail"] as const;

function RedialCard({ draft }: { draft: Draft<CompanySettings> }) {
  const t = useTexts(texts);
  const { value: c, set, error } = draft;
  const r = c.redial;
  const change = (more: Partial<typeof r>) => set({ redial: { ...r, ...more } });
  return (
    <Card title={t.redial}>
      <div className="form">
        <p className="muted flat">{t.redialHelp}</p>
        <div role="group" aria-label={t.outcomes}>
          <div className="field-label" aria-hidden="true">
            {t.outcomes}
          </div>
          <div className="settings-outcomes">
            {outcomes.map((o) => (
              <Checkbox
                key={o}
                label={t[o]}
                checked={r.outcomes.includes(o)}
                onChange={(e) =>
                  change({
                    outcomes: outcomes.filter((x) => (x === o ? e.currentTarget.checked : r.outcomes.includes(x))),
                  })
                }
              />
            ))}
          </div>
        </div>
        <div className="pair">
          <TextInput
            label={t.attempts}
            description={t.attemptsHelp}
            type="number"
            min={0}
            max={10}
            value={r.attempts}
            onChange={(e) => change({ attempts: whole(e.currentTarget.value) })}
            error={error("redial.attempts")}
          />
          <TextInput
            label={t.after}
            description={t.afterHelp}
            type="number"
            min={1}
            max={1440}
            value={Math.round(seconds(r.after) / 60)}
            onChange={(e) => change({ after: whole(e.currentTarget.value) + "m" })}
            error={error("redial.after")}
          />
        </div>
      </div>
    </Card>
  );
}

/** LimitsCard shows the limits to everybody; only who operates the installation changes them. */
function LimitsCard({ draft, can }: { draft: Draft<CompanySettings>; can: boolean }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const { value: c, set, error } = draft;
  const change = (name: keyof Limits, value: number) => set({ limits: { ...c.limits, [name]: value } });
  const open = can && c.limits_writable;
  return (
    <Card
      title={t.limits}
      actions={
        <Link to="/usage" className="small">
          {t.toUsage}
        </Link>
      }
    >
      <div className="stack" style={{ gap: 12 }}>
        <p className="muted flat">
          {t.limitsHelp} {open ? t.zero : t.limitsOthers}
        </p>
        {open ? (
          <div className="settings-limits">
            {limitNames.map((n) => (
              <TextInput
                key={n}
                label={t[n]}
                type="number"
                min={0}
                value={c.limits[n]}
                onChange={(e) => change(n, whole(e.currentTarget.value))}
                error={error("limits." + n)}
              />
            ))}
          </div>
        ) : (
          <dl className="settings-facts">
            {limitNames.map((n) => (
              <div key={n}>
                <dt>{t[n]}</dt>
                <dd>{c.limits[n] ? number(c.limits[n], language) : t.none}</dd>
              </div>
            ))}
          </dl>
        )}
      </div>
    </Card>
  );
}
