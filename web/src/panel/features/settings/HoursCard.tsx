import { Checkbox, Select, Switch, TextInput } from "@mantine/core";
import { useMemo } from "react";
import { useTexts } from "../../i18n";
import type { Draft } from "../../ui/draft";
import { Card } from "../../ui/parts";
import { texts } from "./texts";
import type { CompanySettings, Hours } from "./types";
import { days } from "./week";
import { Week } from "./Week";

/** zones are the names of time zones that the browser knows, with the stored one. */
function zones(stored: string | undefined): string[] {
  const all = typeof Intl.supportedValuesOf === "function" ? Intl.supportedValuesOf("timeZone") : [];
  return [...new Set(["UTC", ...(stored ? [stored] : []), ...all])];
}

const here = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/** HoursCard is when calls may be placed. */
export function HoursCard({ draft, can }: { draft: Draft<CompanySettings>; can: boolean }) {
  const t = useTexts(texts);
  const { value: c, set, error } = draft;
  const h = c.calling_hours;
  const all = useMemo(() => zones(h?.timezone), [h?.timezone]);
  const change = (more: Partial<Hours>) => set({ calling_hours: { ...h!, ...more } });
  const toggle = (on: boolean) =>
    set({ calling_hours: on ? { timezone: here(), from: "09:00", to: "21:00", days: days.slice(0, 5) } : null });
  return (
    <Card title={t.hours}>
      <div className="form">
        <Switch
          label={t.limited}
          description={t.hoursHelp}
          checked={h !== null}
          onChange={(e) => toggle(e.currentTarget.checked)}
        />
        {h && (
          <>
            <Select
              label={t.zone}
              searchable
              disabled={!can}
              data={all}
              value={h.timezone}
              onChange={(timezone) => timezone && change({ timezone })}
              error={error("calling_hours.timezone")}
            />
            <div className="pair">
              <TextInput
                label={t.from}
                description={t.fromHelp}
                inputMode="numeric"
                placeholder="09:00"
                value={h.from}
                onChange={(e) => change({ from: e.currentTarget.value })}
                error={error("calling_hours.from")}
              />
              <TextInput
                label={t.to}
                description={t.toHelp}
                inputMode="numeric"
                placeholder="21:00"
                value={h.to}
                onChange={(e) => change({ to: e.currentTarget.value })}
                error={error("calling_hours.to")}
              />
            </div>
            <div role="group" aria-label={t.days}>
              <div className="field-label" aria-hidden="true">
                {t.days}
              </div>
              <div className="settings-outcomes">
                {days.map((d) => (
                  <Checkbox
                    key={d}
                    label={t[d]}
                    checked={h.days.includes(d)}
                    onChange={(e) =>
                      change({ days: days.filter((x) => (x === d ? e.currentTarget.checked : h.days.includes(x))) })
                    }
                  />
                ))}
              </div>
            </div>
            {h.days.length === 0 && <p className="small muted flat">{t.noDays}</p>}
          </>
        )}
        {h ? (
          <Week hours={h.days.length === 0 ? { ...h, days: [...days] } : h} />
        ) : (
          <p className="small muted flat">{t.anyTime}</p>
        )}
      </div>
    </Card>
  );
}
