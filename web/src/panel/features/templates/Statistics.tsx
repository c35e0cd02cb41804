import { Button } from "@mantine/core";
import { useState } from "react";
import type { Schemas } from "../../api";
import { money, number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import type { Point } from "../../ui/chart/bins";
import { Chart, type Series } from "../../ui/chart/Chart";
import { confirm } from "../../ui/confirm";
import { Card, Failed } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { texts } from "./texts";
import type { TemplateRow } from "./types";
import { useCounting, useStatistics } from "./useTemplates";

type Figures = Schemas["TemplatesStatisticsRow"];

/** Statistics is the channel's own figures of a template; nothing where the channel has none. */
export function Statistics({ template: x }: { template: TemplateRow }) {
  const t = useTexts(texts);
  const asked = x.provider !== "sandbox" && !!x.provider_id;
  const got = useStatistics(x.id, asked);
  if (!asked || got.data?.state === "none" || (!got.data && !got.isError)) return null;
  if (!got.data)
    return (
      <Card title={t.statistics}>
        <Failed error={got.error} retry={() => void got.refetch()} />
      </Card>
    );
  return got.data.state === "off" ? <Off id={x.id} /> : <Days figures={got.data} />;
}

/** Off turns the figures on, for all templates of the account and for good. */
function Off({ id }: { id: string }) {
  const t = useTexts(texts);
  const can = useCan()("senders:write");
  const count = useCounting(id);
  const [busy, setBusy] = useState(false);
  const turnOn = async () => {
    if (!(await confirm({ title: t.countTitle, text: t.countText, action: t.count }))) return;
    setBusy(true);
    try {
      await count();
      succeeded(t.counted);
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card
      title={t.statistics}
      actions={
        can && (
          <Button variant="default" size="compact-sm" loading={busy} onClick={() => void turnOn()}>
            {t.count}
          </Button>
        )
      }
    >
      <p className="muted flat">{can ? t.countsOff : t.countsOffAsk}</p>
    </Card>
  );
}

type Key = "read" | "unread" | "undelivered";

function Days({ figures: f }: { figures: Figures }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const series: Series<Key>[] = [
    { key: "read", label: t.statRead, color: "best" },
    { key: "unread", label: t.statUnread, color: "good" },
    { key: "undelivered", label: t.statUndelivered, color: "open" },
  ];
  const notes = f.clicks.map((c) => fill(t.clicksOn, { text: c.text, n: number(c.count, language) }));
  if (f.spent) notes.push(fill(t.spent, { amount: money(f.spent.toFixed(2), f.currency, language) }));
  notes.push(t.statisticsNote);
  return (
    <Chart
      title={t.statistics}
      points={f.days.map(pointOf)}
      unit="day"
      series={series}
      none={t.noStatistics}
      note={notes.join(" · ")}
    />
  );
}

/** pointOf is a day of the channel, which is one in UTC, as the same date here. */
function pointOf(d: Figures["days"][number]): Point<Key> {
  const [year, month, date] = d.day.split("-").map(Number) as [number, number, number];
  const delivered = Math.max(d.delivered, d.read); // late reports of a day before
  return {
    at: new Date(year, month - 1, date),
    until: new Date(year, month - 1, date + 1),
    open: false,
    read: d.read,
    unread: delivered - d.read,
    undelivered: Math.max(0, d.sent - delivered),
  };
}
