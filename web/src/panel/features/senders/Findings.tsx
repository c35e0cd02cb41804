import { English } from "../../ui/English";
import { Button } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheck, IconCircleDashed, IconCircleX } from "@tabler/icons-react";
import { absolute, relative } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useNow } from "../../ui/Ago";
import { checkTexts } from "./texts";
import { limitText } from "./limits";
import { MetaLink } from "./Needed";
import { type Ids, idsOf, whereOf } from "./where";
import type { Finding, FindingState, Report } from "./types";

const icons = { ok: IconCircleCheck, warn: IconAlertTriangle, bad: IconCircleX, unknown: IconCircleDashed };

/** Findings are what a check found, item by item, with what to do about each. subscribe is offered where an app is not subscribed. */
export function Findings({
  report: r,
  waba,
  subscribe,
  busy,
}: {
  report: Report;
  waba?: string;
  subscribe?: () => void;
  busy?: boolean;
}) {
  const t = useTexts(checkTexts);
  const language = useLanguage();
  const now = useNow();
  const all = r.findings ?? [];
  const ids = idsOf(waba, all);
  const skipped = all.filter((f) => f.code === "not_checked");
  const asked = all.filter((f) => f.code !== "not_checked");
  const nameOf = (f: Finding) => (t as Record<string, string>)["item_" + f.item] ?? f.item;
  const worst = r.worst === "bad" ? t.failing : r.worst === "warn" ? t.warned : t.good;
  return (
    <div>
      <p className="findings-sum" role="status">
        <b>{worst}</b>{" "}
        {r.checked_at && (
          <span className="small muted">
            {fill(t.checked, { ago: relative(r.checked_at, language, Math.max(now, Date.parse(r.checked_at))) })}
          </span>
        )}
      </p>
      <ul className="findings" aria-label={t.title}>
        {sorted(asked).map((f) => (
          <Item
            key={f.item}
            finding={f}
            ids={ids}
            subscribe={f.item === "subscription" && f.state === "bad" ? subscribe : undefined}
            busy={busy}
          />
        ))}
        {skipped.length > 0 && (
          <li data-state="unknown">
            <IconCircleDashed size={18} aria-hidden="true" />
            <p>{fill(t.not_checked, { items: skipped.map(nameOf).join(", ") })}</p>
          </li>
        )}
      </ul>
    </div>
  );
}

/** sorted are findings with what has to be mended first. */
function sorted(all: Finding[]): Finding[] {
  const urgent = (f: Finding) => (f.state === "bad" ? 0 : f.state === "warn" ? 1 : 2);
  return [...all].sort((a, b) => urgent(a) - urgent(b));
}

function Item({
  finding: f,
  ids,
  subscribe,
  busy,
}: {
  finding: Finding;
  ids: Ids;
  subscribe?: () => void;
  busy?: boolean;
}) {
  const t = useTexts(checkTexts);
  const language = useLanguage();
  const all = t as Record<string, string>;
  const state: FindingState = f.state in icons ? f.state : "unknown";
  const Icon = icons[state];
  const cure = all["do_" + f.code];
  const where = all["where_" + f.item];
  const at = whereOf(f.item, ids);
  return (
    <li data-state={state}>
      <Icon size={18} aria-hidden="true" />
      <div>
        <p>
          <b>{all["item_" + f.item] ?? f.item}</b> <span className="hidden">{t[state]}: </span>
          {fill(all[f.code] ?? f.code, valuesOf(f, language, t))}
        </p>
        {cure && <p className="small findings-do">{fill(cure, valuesOf(f, language, t))}</p>}
        {where && (
          <p className="small muted findings-where">
            {where} {at && <MetaLink to={at} />}
          </p>
        )}
        {f.detail && (
          <p className="small mono muted">
            <English>{f.detail}</English>
          </p>
        )}
        {subscribe && (
          <Button size="compact-sm" variant="default" loading={busy} onClick={subscribe}>
            {t.subscribe}
          </Button>
        )}
      </div>
    </li>
  );
}

/** valuesOf are the values of a finding as people read them. */
function valuesOf(f: Finding, language: string, t: { limitMany: string; limitAny: string }): Record<string, string> {
  const v = { ...f.values };
  if (v.at) v.at = absolute(v.at, language);
  if (v.limit) v.limit = limitText(v.limit, language, t);
  return v;
}
