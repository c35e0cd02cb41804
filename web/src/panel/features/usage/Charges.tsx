import { Button, Select } from "@mantine/core";
import { IconCoins, IconDownload } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { address as addressAt, get, type Schemas } from "../../api";
import { money, number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { Card, Failed } from "../../ui/parts";
import { Prices } from "./Prices";
import { texts } from "./texts";

type Row = Schemas["SendingChargeRow"];
const groups = ["day", "campaign", "template", "country"] as const;
type By = (typeof groups)[number];
const days = ["7", "30", "90", "365"];

/** firstDay is the first of n days up to today, by UTC. */
const firstDay = (n: number): string => new Date(Date.now() - (n - 1) * 86_400_000).toISOString().slice(0, 10);

/** Charges is what WhatsApp charges for delivered messages, by one of their attributes. */
export function Charges() {
  const t = useTexts(texts);
  const language = useLanguage();
  const company = useCompany();
  const can = useCan()("settings:write");
  const [by, setBy] = useState<By>("day");
  const [span, setSpan] = useState("30");
  const [editing, setEditing] = useState(false);
  const query = { by, from: firstDay(Number(span)) };
  const one = useQuery({
    queryKey: [company.id, "charges", query],
    queryFn: ({ signal }) => get("/charges", query, signal),
    placeholderData: keepPreviousData,
  });
  const shown = one.data;
  return (
    <Card
      title={t.charges}
      actions={
        <div className="usage-actions">
          {can && (
            <Button variant="default" size="xs" leftSection={<IconCoins size={14} />} onClick={() => setEditing(true)}>
              {t.prices}
            </Button>
          )}
          <Button
            variant="default"
            size="xs"
            component="a"
            href={addressAt("/charges/export", { ...query, by: "all" })}
            download="charges.csv"
            leftSection={<IconDownload size={14} />}
          >
            {t.csv}
          </Button>
        </div>
      }
    >
      <div className="usage-charges">
        <Select
          label={t.groupBy}
          value={by}
          allowDeselect={false}
          data={groups.map((g) => ({ value: g, label: t[`by_${g}`] }))}
          onChange={(v) => setBy(v as By)}
        />
        <Select
          label={t.period}
          value={span}
          allowDeselect={false}
          data={days.map((n) => ({ value: n, label: fill(t.lastDays, { n }) }))}
          onChange={(v) => setSpan(v ?? "30")}
        />
      </div>
      {one.isError ? (
        <Failed error={one.error} retry={() => void one.refetch()} />
      ) : !shown || shown.rows.length === 0 ? (
        <p className="muted">{shown ? t.noCharges : ""}</p>
      ) : (
        <>
          <p>
            <b>{number(shown.messages, language)}</b> {t.delivered}
            {shown.amount && (
              <>
                {" "}
                · <b>{money(shown.amount, shown.currency, language)}</b>
              </>
            )}
          </p>
          <Rows rows={shown.rows} by={by} currency={shown.currency} />
          <p className="small muted">{shown.currency ? t.chargesPriced : t.chargesCounted}</p>
        </>
      )}
      {editing && <Prices close={() => setEditing(false)} />}
    </Card>
  );
}

function Rows({ rows, by, currency }: { rows: Row[]; by: By; currency?: string }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const label = (r: Row) =>
    ({ day: r.day, campaign: r.campaign, template: r.template, country: r.calling_code && `+${r.calling_code}` })[by];
  return (
    <div className="table-wrap">
      <table>
        <thead>
          <tr>
            <th>{t[`by_${by}`]}</th>
            <th>{t.category}</th>
            <th>{t.kind}</th>
            <th>{t.messages}</th>
            {currency && <th>{t.amount}</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <tr key={[label(r), r.category, r.type].join("/")}>
              <td>{label(r) || <span className="muted">{t.noneOf}</span>}</td>
              <td>{t[`category_${r.category}` as "category_marketing"] ?? r.category}</td>
              <td>{t[`kind_${r.type}` as "kind_regular"] ?? r.type}</td>
              <td>{number(r.messages, language)}</td>
              {currency && (
                <td>{r.amount ? money(r.amount, currency, language) : <span className="muted">{t.noPrice}</span>}</td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
