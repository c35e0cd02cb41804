import { phone } from "../../ui/number";
import { ActionIcon, Tooltip } from "@mantine/core";
import { IconFilter } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useLanguage, useTexts, fill } from "../../i18n";
import { languageName, number } from "../../format";
import { Card } from "../../ui/parts";
import { Rate, RateName } from "../../ui/Rate";
import type { Span } from "../../ui/chart/bins";
import { listOf, type Address } from "./address";

import type { Go } from "./OverviewPage";
import { texts } from "./texts";
import type { Counted, Overview } from "./types";

interface Props {
  shown: Overview;
  span: Span;
  address: Address;
  go: Go;
}

/** Tables are the figures by what recipients have in common. A name leads to the notifications behind it. */
export function Tables({ shown, span, address, go }: Props) {
  const t = useTexts(texts);
  const language = useLanguage();
  const list = (search: Record<string, string | undefined>, text: string) => (
    <Link className="row-title" to="/notifications" search={search}>
      {text}
    </Link>
  );
  const sender = (c: Counted) => c.sender || phone(c.number ?? "") || t.goneSender;
  return (
    <div className="overview-tables">
      <Table
        title={t.byCampaign}
        rows={shown.campaigns}
        name={(c) => c.campaign!}
        more={
          <Link className="small" to="/campaigns">
            {t.allCampaigns}
          </Link>
        }
        cell={(c) => list(listOf(address, span, { campaign: c.campaign }), c.campaign || t.noCampaign)}
        filter={(c) => go({ campaign: c.campaign })}
      />
      <Table
        title={t.byTemplate}
        rows={shown.templates}
        name={(c) => c.template!}
        cell={(c) => (
          <>
            <button
              type="button"
              className="row-title plain"
              onClick={() => go({ template: c.template, language: c.language })}
            >
              {c.template}
            </button>
            <span className="small muted">{languageName(c.language ?? "", language)}</span>
          </>
        )}
        filter={(c) => go({ template: c.template, language: c.language })}
      />
      <Table
        title={t.bySender}
        rows={shown.senders}
        name={sender}
        cell={(c) => (
          <>
            {c.sender ? list(listOf(address, span, { sender: c.sender }), c.sender) : <span>{sender(c)}</span>}
            <span className="small muted">{c.channel === "voice" ? t.voice : t.messaging}</span>
          </>
        )}
        filter={(c) => c.sender && go({ sender: c.sender })}
      />
      <Table
        title={t.byType}
        rows={shown.types}
        name={(c) => t[c.type!]}
        cell={(c) => list(listOf(address, span, { type: c.type }), t[c.type!])}
        filter={(c) => go({ type: c.type })}
      />
    </div>
  );
}

function Table({
  title,
  rows,
  name,
  cell,
  filter,
  more,
}: {
  title: string;
  rows: Counted[];
  name: (c: Counted) => string;
  cell: (c: Counted) => ReactNode;
  filter: (c: Counted) => void;
  more?: ReactNode;
}) {
  const t = useTexts(texts);
  const language = useLanguage();
  const full = (c: Counted) => name(c) + (c.language ? ` · ${languageName(c.language, language)} (${c.language})` : "");
  return (
    <Card title={title} flush actions={more}>
      {rows.length === 0 ? (
        <p className="overview-none">{t.none}</p>
      ) : (
        <div className="table-wrap">
          <table className="table overview-table">
            <thead>
              <tr>
                <th>{t.name}</th>
                <th className="figure">{t.accepted}</th>
                <th className="figure">
                  <RateName name="delivered" label={t.delivered} />
                </th>
                <th className="figure wide-only">
                  <RateName name="read" label={t.read} />
                </th>
                <th className="figure">{t.failed}</th>
                <th className="wide-only">
                  <span className="hidden">{t.filter}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((c) => (
                <tr key={name(c) + (c.language ?? "")}>
                  <td>
                    <div className="overview-name" title={full(c)}>
                      {cell(c)}
                    </div>
                  </td>
                  <td className="figure">{number(c.accepted, language)}</td>
                  <td className="figure">
                    <Rate name="delivered" figures={c} />
                  </td>
                  <td className="figure wide-only">
                    <Rate name="read" figures={c} />
                  </td>
                  <td className={c.failed > 0 ? "figure bad" : "figure"}>{number(c.failed, language)}</td>
                  <td className="wide-only">
                    <Tooltip label={fill(t.only, { name: full(c) })}>
                      <ActionIcon
                        variant="subtle"
                        color="gray"
                        aria-label={fill(t.only, { name: full(c) })}
                        onClick={() => filter(c)}
                      >
                        <IconFilter size={15} />
                      </ActionIcon>
                    </Tooltip>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}
