import { Button, Switch, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { get, put, type Schemas } from "../../api";
import { useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { Card, Failed, Rows } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { Several } from "../../ui/Several";
import { useNotices } from "./NoticesCard";
import { texts } from "./texts";

type Team = Schemas["InboxTeamNotices"];

/** TeamCard is how the whole team learns of visitors who wait, and visitors who left of replies. */
export function TeamCard({ can }: { can: boolean }) {
  const t = useTexts(texts);
  const { query, changed } = useNotices();
  if (query.isPending) return <Rows n={2} />;
  if (query.isError)
    return (
      <Card title={t.team}>
        <Failed error={query.error} retry={() => void query.refetch()} />
      </Card>
    );
  const { team, mails } = query.data;
  return (
    <Card title={t.team}>
      <Form key={JSON.stringify(team)} stored={team} mails={mails} can={can} changed={changed} />
    </Card>
  );
}

function Form(p: { stored: Team; mails: boolean; can: boolean; changed(): Promise<void> }) {
  const { stored, mails, can, changed } = p;
  const t = useTexts(texts);
  const company = useCompany();
  const [c, setC] = useState(stored);
  const [busy, setBusy] = useState(false);
  const set = (more: Partial<Team>) => setC((now) => ({ ...now, ...more }));
  const team = useQuery({
    queryKey: [company.id, "inbox", "teammates"],
    queryFn: ({ signal }) => get("/inbox/teammates", {}, signal),
  });
  const people = (team.data?.data ?? []).map((x) => ({ value: x.account_id, label: x.name || x.email }));
  const known = new Set(people.map((x) => x.value));
  const save = async () => {
    setBusy(true);
    try {
      await put("/inbox/notices/team", {
        ...c,
        on_duty: team.data ? c.on_duty.filter((id) => known.has(id)) : c.on_duty,
      });
      succeeded(t.saved);
      await changed();
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  const dirty = JSON.stringify(c) !== JSON.stringify(stored);
  return (
    <div className="form">
      {!mails && <p className="muted flat">{t.noMail}</p>}
      <TextInput
        label={t.mailAfter}
        description={t.mailAfterHelp}
        type="number"
        min={0}
        max={1440}
        value={c.mail_after_minutes}
        disabled={!can || !mails}
        onChange={(e) => {
          const n = Math.trunc(Number(e.currentTarget.value) || 0);
          set({ mail_after_minutes: Math.min(1440, Math.max(0, n)) });
        }}
      />
      <Several
        label={t.duty}
        description={t.dutyHelp}
        placeholder={c.on_duty.length === 0 ? t.everyone : undefined}
        data={people}
        value={c.on_duty.filter((id) => known.has(id))}
        disabled={!can || !mails || c.mail_after_minutes === 0}
        onChange={(on_duty) => set({ on_duty })}
        searchable
        clearable
      />
      <Switch
        label={t.showText}
        description={t.showTextHelp}
        checked={c.show_text}
        disabled={!can}
        onChange={(e) => set({ show_text: e.currentTarget.checked })}
      />
      <Switch
        label={t.replyMail}
        description={t.replyMailHelp}
        checked={c.reply_by_mail}
        disabled={!can || !mails}
        onChange={(e) => set({ reply_by_mail: e.currentTarget.checked })}
      />
      {can && (
        <div>
          <Button size="sm" disabled={!dirty} loading={busy} onClick={() => void save()}>
            {t.save}
          </Button>
        </div>
      )}
    </div>
  );
}
