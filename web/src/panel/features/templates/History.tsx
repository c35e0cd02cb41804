import { English } from "../../ui/English";
import { Skeleton } from "@mantine/core";
import { useState } from "react";
import { absolute } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Ago } from "../../ui/Ago";
import { Card, Failed } from "../../ui/parts";
import { changed, difference } from "./diff";
import { explained } from "./reasons";
import { texts } from "./texts";
import type { Change, TemplateRow } from "./types";
import { useHistory } from "./useTemplates";

const first = 6;

const tones: Record<string, string> = {
  approved: "ok",
  rejected: "danger",
  disabled: "danger",
  paused: "warn",
  refused: "danger",
  pending: "accent",
};

/** History is who wrote and submitted a template, and what its channel decided. */
export function History({ template }: { template: TemplateRow }) {
  const t = useTexts(texts);
  const history = useHistory(template.id, template.version);
  const [all, setAll] = useState(false);
  const rows = history.data ?? [];
  return (
    <Card title={t.history}>
      {history.isError && !history.data ? (
        <Failed error={history.error} retry={() => void history.refetch()} />
      ) : !history.data ? (
        <Skeleton height={72} />
      ) : rows.length === 0 ? (
        <p className="muted templates-none">{t.noHistory}</p>
      ) : (
        <>
          <ol className="templates-history">
            {(all ? rows : rows.slice(0, first)).map((c, i) => (
              <Entry key={rows.length - i} change={c} />
            ))}
          </ol>
          {!all && rows.length > first && (
            <button type="button" className="templates-earlier" onClick={() => setAll(true)}>
              {fill(t.earlier, { n: rows.length - first })}
            </button>
          )}
        </>
      )}
    </Card>
  );
}

function Entry({ change: c }: { change: Change }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const { what, words } = explained(t, c.reason);
  const who = c.by.name || t[`by_${c.by.kind}` as "by_channel"];
  const title = c.action === "decided" ? t[`did_${c.status}` as "did_approved"] : t[c.action];
  return (
    <li data-tone={tones[c.action === "decided" ? c.status : c.action === "submitted" ? "pending" : c.action]}>
      <div className="templates-entry">
        <span>
          <b>{title}</b> <span className="muted">{fill(t.by, { name: who })}</span>
        </span>
        <span className="small muted" title={absolute(c.at, language)}>
          <Ago at={c.at} />
        </span>
      </div>
      {(what || words) && (
        <p className="small">
          {what}
          {what && words && " "}
          {words && (
            <English>
              <q>{words}</q>
            </English>
          )}
        </p>
      )}
      {c.before && c.after && <Edited before={c.before} after={c.after} />}
    </li>
  );
}

function Edited({ before, after }: { before: NonNullable<Change["before"]>; after: NonNullable<Change["after"]> }) {
  const t = useTexts(texts);
  const parts = changed(before, after);
  if (parts.length === 0) return <p className="small muted">{t.sameText}</p>;
  return (
    <details className="templates-edit small">
      <summary>{parts.map((p) => t[`part_${p.part}` as "part_body"]).join(", ")}</summary>
      <dl>
        {parts.map((p) => (
          <div key={p.part}>
            <dt className="muted">{t[`part_${p.part}` as "part_body"]}</dt>
            <dd dir="auto">
              {difference(p.before, p.after).map((b, i) =>
                b.kind === "gone" ? (
                  <del key={i}>{b.text}</del>
                ) : b.kind === "new" ? (
                  <ins key={i}>{b.text}</ins>
                ) : (
                  <span key={i}>{b.text}</span>
                ),
              )}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
