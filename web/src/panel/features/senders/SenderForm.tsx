import type { ReactNode } from "react";
import "@mantine/core/styles/Radio.css";
import { SegmentedControl, Select, Switch, TextInput } from "@mantine/core";
import { useTexts } from "../../i18n";
import type { Draft } from "../../ui/draft";
import { Card } from "../../ui/parts";
import { useList } from "../../ui/resources";
import { seconds } from "../lines/trunk";
import { AdvancedFields, IdFields, SecretFields } from "./fields";
import { texts } from "./texts";
import type { CloudSettings, MessagingSender, UnknownPolicy } from "./types";

/** SenderForm is what a sender is, in the order in which Meta shows it, then how it behaves. */
export function SenderForm({ draft, can }: { draft: Draft<MessagingSender>; can: boolean }) {
  const t = useTexts(texts);
  const { value: s, set, error } = draft;
  const change = (more: Partial<CloudSettings>) => set({ settings: { ...s.settings, ...more } });
  const fields = { value: s.settings, change, error, set: s.secrets };
  const cloud = s.provider === "whatsapp";
  return (
    <div className="stack">
      <Card label={t.sender}>
        <div className="form">
          <TextInput
            label={t.number}
            description={t.numberHelp}
            inputMode="numeric"
            autoComplete="off"
            value={s.number}
            onChange={(e) => set({ number: e.currentTarget.value })}
            error={error("number")}
          />
          <Switch
            label={t.standardHelp}
            checked={s.default}
            onChange={(e) => set({ default: e.currentTarget.checked })}
          />
        </div>
      </Card>
      {cloud && (
        <Card title={t.meta}>
          <div className="form">
            <p className="muted flat">{t.metaAbout}</p>
            <IdFields {...fields} />
          </div>
        </Card>
      )}
      {cloud && (
        <Card title={t.access}>
          <div className="form">
            <SecretFields {...fields} />
            <AdvancedFields {...fields} />
          </div>
        </Card>
      )}
      {cloud && (
        <AgentCard
          value={s.settings.agent ?? ""}
          change={(agent) => change({ agent })}
          error={error("settings.agent")}
          can={can}
        />
      )}
      <PacingCard draft={draft} can={can} />
      <UnknownCard draft={draft} can={can} />
    </div>
  );
}

function AgentCard({
  value,
  change,
  error,
  can,
}: {
  value: string;
  change: (agent: string) => void;
  error: ReactNode;
  can: boolean;
}) {
  const t = useTexts(texts);
  const agents = useList("agents");
  const all = (agents.data ?? []).map((a) => ({ value: a.id, label: a.name }));
  return (
    <Card title={t.answers}>
      <div className="form">
        <Select
          label={t.agent}
          description={t.agentHelp}
          placeholder={t.nobody}
          disabled={!can}
          clearable
          clearButtonProps={{ "aria-label": t.nobody }}
          data={value && !all.some((a) => a.value === value) ? [...all, { value, label: value }] : all}
          value={value || null}
          onChange={(agent) => change(agent ?? "")}
          error={error}
        />
      </div>
    </Card>
  );
}

const whole = (text: string, most: number): number => Math.min(most, Math.max(0, Math.trunc(Number(text) || 0)));

function PacingCard({ draft, can }: { draft: Draft<MessagingSender>; can: boolean }) {
  const t = useTexts(texts);
  const { value: s, set, error } = draft;
  return (
    <Card title={t.pacing}>
      <div className="form">
        <div className="pair">
          <TextInput
            label={t.perSecond}
            description={t.perSecondHelp}
            type="number"
            min={0}
            value={s.per_second}
            onChange={(e) => set({ per_second: whole(e.currentTarget.value, 10_000) })}
            error={error("per_second")}
          />
          <TextInput
            label={t.perRecipient}
            description={t.perRecipientHelp}
            type="number"
            min={0}
            value={seconds(s.per_recipient_interval)}
            onChange={(e) => set({ per_recipient_interval: whole(e.currentTarget.value, 86_400) + "s" })}
            error={error("per_recipient_interval")}
          />
        </div>
        <div>
          <div className="field-label" id="media-check">
            {t.media}
          </div>
          <SegmentedControl
            aria-labelledby="media-check"
            disabled={!can}
            data={[
              { value: "full", label: t.full },
              { value: "syntax", label: t.syntax },
            ]}
            value={s.media_check}
            onChange={(to) => set({ media_check: to })}
          />
          <p className="small muted flat">{s.media_check === "full" ? t.fullHelp : t.syntaxHelp}</p>
        </div>
      </div>
    </Card>
  );
}

const classes = ["transactional", "utility", "marketing"] as const;

function UnknownCard({ draft, can }: { draft: Draft<MessagingSender>; can: boolean }) {
  const t = useTexts(texts);
  const { value: s, set, error } = draft;
  const change = (more: UnknownPolicy) => set({ unknown_outcome: { ...s.unknown_outcome, ...more } });
  return (
    <Card title={t.unknown}>
      <div className="form">
        <p className="muted flat">{t.unknownHelp}</p>
        <div className="unknown-rows">
          {classes.map((c) => (
            <div key={c}>
              <span id={"unknown-" + c}>{t[c]}</span>
              <SegmentedControl
                size="xs"
                aria-labelledby={"unknown-" + c}
                disabled={!can}
                data={[
                  { value: "retry", label: t.retry },
                  { value: "fail", label: t.fail },
                ]}
                value={s.unknown_outcome[c] ?? "fail"}
                onChange={(to) => change({ [c]: to })}
              />
            </div>
          ))}
        </div>
        <TextInput
          label={t.after}
          type="number"
          min={1}
          max={10080}
          value={Math.round(seconds(s.unknown_outcome.after ?? "10m") / 60)}
          onChange={(e) => change({ after: whole(e.currentTarget.value, 10_080) + "m" })}
          error={error("unknown_outcome.after")}
          style={{ maxWidth: 260 }}
        />
      </div>
    </Card>
  );
}
