import { Chip, PasswordInput, Select, Switch, TagsInput, TextInput } from "@mantine/core";
import "@mantine/core/styles/Chip.css";
import { useTexts } from "../../i18n";
import type { Hours, Widget } from "./types";
import type { Draft } from "../../ui/draft";
import { useList } from "../../ui/resources";
import { texts, voiceTexts } from "./texts";
import { Aloud } from "./Voice";

const week = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
const zones = Intl.supportedValuesOf("timeZone");

/** Behaviour is who answers, when, and on which sites. */
export function Behaviour({ draft }: { draft: Draft<Widget> }) {
  const t = useTexts(texts);
  const v = useTexts(voiceTexts);
  const { value: w, set, error } = draft;
  const voice = w.kind === "voice";
  const agents = useList("agents");
  const hours = w.hours;
  const change = (h: Partial<Hours>) => set({ hours: { ...hours!, ...h } });
  return (
    <div className="form">
      <Select
        label={t.agent}
        placeholder={voice ? undefined : t.noAgent}
        clearable
        value={w.agent || null}
        onChange={(id) => set({ agent: id ?? undefined })}
        data={(agents.data ?? []).map((a) => ({ value: a.id, label: a.name }))}
        error={error("agent")}
      />
      {voice && <Aloud draft={draft} agent={(agents.data ?? []).find((a) => a.id === w.agent)} />}
      <Switch
        label={t.person}
        description={voice ? v.personHelp : t.personHelp}
        checked={w.talk_to_person !== false}
        onChange={(e) => set({ talk_to_person: e.currentTarget.checked })}
      />
      {!voice && (
        <Switch
          label={t.scores}
          description={t.scoresHelp}
          checked={w.scores !== false}
          onChange={(e) => set({ scores: e.currentTarget.checked ? undefined : false })}
        />
      )}
      <Switch
        label={t.hours}
        description={t.hoursHelp}
        checked={!!hours}
        onChange={(e) =>
          set({
            hours: e.currentTarget.checked
              ? {
                  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
                  from: "09:00",
                  to: "18:00",
                  days: ["mon", "tue", "wed", "thu", "fri"],
                }
              : undefined,
          })
        }
      />
      {hours && (
        <div className="stack" style={{ paddingInlineStart: 52 }}>
          <div className="pair">
            <TextInput
              label={t.from}
              type="time"
              value={hours.from}
              onChange={(e) => change({ from: e.currentTarget.value })}
              error={error("hours.from")}
            />
            <TextInput
              label={t.to}
              type="time"
              value={hours.to}
              onChange={(e) => change({ to: e.currentTarget.value })}
              error={error("hours.to")}
            />
          </div>
          <Select
            label={t.zone}
            searchable
            data={zones.includes(hours.timezone) ? zones : [hours.timezone, ...zones]}
            limit={80}
            allowDeselect={false}
            value={hours.timezone}
            onChange={(zone) => zone && change({ timezone: zone })}
            error={error("hours.timezone")}
          />
          <div role="group" aria-label={t.days}>
            <div className="field-label">{t.days}</div>
            <Chip.Group
              multiple
              value={hours.days}
              onChange={(days) => change({ days: week.filter((d) => days.includes(d)) })}
            >
              <div className="tags">
                {week.map((d) => (
                  <Chip key={d} value={d} size="xs" variant="light">
                    {t[d]}
                  </Chip>
                ))}
              </div>
            </Chip.Group>
            {error("hours.days") && (
              <div className="small" style={{ color: "var(--danger)", marginTop: 4 }}>
                {error("hours.days")}
              </div>
            )}
          </div>
        </div>
      )}
      <TagsInput
        label={t.allowed}
        description={t.allowedHelp}
        placeholder="https://www.example.com"
        maxTags={100}
        value={w.allowed_origins}
        splitChars={[",", "\n"]}
        acceptValueOnBlur
        onChange={(all) => set({ allowed_origins: all.map(originOf) })}
        error={error("allowed_origins")}
      />
      <PasswordInput
        label={t.identity}
        description={t.identityHelp}
        autoComplete="off"
        value={w.identity_secret ?? ""}
        onChange={(e) => set({ identity_secret: e.currentTarget.value || undefined })}
        error={error("identity_secret")}
        visibilityToggleButtonProps={{ "aria-label": t.identity }}
      />
    </div>
  );
}

/** originOf is the origin of an address that was pasted; what is no address stays as it is. */
function originOf(text: string): string {
  if (/\s/.test(text)) return text;
  try {
    const { origin } = new URL(text.includes("://") ? text : "https://" + text);
    return origin === "null" ? text : origin;
  } catch {
    return text;
  }
}
