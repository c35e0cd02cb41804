import { phone } from "../../ui/number";
import { Button, SegmentedControl, Select } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import { useTexts, type TextsOf } from "../../i18n";
import { Ago } from "../../ui/Ago";
import { Card, Empty, Failed, Rows } from "../../ui/parts";
import { shared } from "../../ui/texts";
import { Place } from "./Log";
import { RunState } from "./RunState";
import { runTexts, texts } from "./texts";
import type { RunRow } from "./types";
import { useRuns } from "./useFlows";

/** Runs is the runs of all flows, or of one. */
export function Runs({
  flows,
  flow,
  state,
  only,
}: {
  flows: { id: string; name: string }[];
  flow?: string;
  state?: "failed";
  only?: boolean;
}) {
  const r = useTexts(runTexts);
  const s = useTexts(shared);
  const navigate = useNavigate();
  const list = useRuns({ flow, state });
  const rows = list.data?.pages.flatMap((p) => p.data) ?? [];
  const go = (to: { flow?: string; state?: "failed" }) =>
    void navigate({ to: ".", replace: true, search: (now) => ({ ...now, ...to }) });
  return (
    <>
      <div className="flows-filters">
        {!only && (
          <Select
            aria-label={r.flow}
            placeholder={r.anyFlow}
            clearable
            searchable={flows.length > 8}
            checkIconPosition="right"
            value={flow ?? null}
            data={flows.map((f) => ({ value: f.id, label: f.name }))}
            onChange={(v) => go({ flow: v ?? undefined })}
          />
        )}
        <SegmentedControl
          size="sm"
          aria-label={r.state}
          value={state ?? "all"}
          onChange={(v) => go({ state: v === "failed" ? "failed" : undefined })}
          data={[
            { value: "all", label: r.all },
            { value: "failed", label: r.failedOnly },
          ]}
        />
      </div>
      {list.isPending ? (
        <Rows n={5} />
      ) : list.isLoadingError ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : (
        <Card flush label={r.run}>
          {rows.length === 0 ? (
            <Empty icon={<IconPlayerPlay size={22} />} title={r.noRuns} text={r.noRunsText} />
          ) : (
            <Table rows={rows} only={only} />
          )}
        </Card>
      )}
      {list.hasNextPage && (
        <div className="flows-more">
          <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {s.more}
          </Button>
        </div>
      )}
    </>
  );
}

function Table({ rows, only }: { rows: RunRow[]; only?: boolean }) {
  const r = useTexts(runTexts);
  const t = useTexts(texts);
  return (
    <div className="table-wrap">
      <table className="table">
        <thead>
          <tr>
            <th>{r.contact}</th>
            {!only && <th className="wide-only">{r.flow}</th>}
            <th>{r.state}</th>
            <th className="wide-only">{r.where}</th>
            <th className="wide-only">{r.started}</th>
            <th className="wide-only">{r.changed}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((x) => (
            <tr key={x.id}>
              <td>
                <Link className="row-title" to="/flows/runs/$id" params={{ id: x.id }}>
                  {whoOf(x, r.unnamed)}
                </Link>
                <span className="flows-sub">
                  {channelOf(x.channel, r)}
                  {!only && <span className="flows-small"> · {x.flow || t.removedFlow}</span>}
                  <span className="flows-small">
                    {" "}
                    · <Ago at={x.changed_at} />
                  </span>
                </span>
              </td>
              {!only && <td className="wide-only">{x.flow || t.removedFlow}</td>}
              <td>
                <RunState state={x.state} />
              </td>
              <td className="wide-only">
                <Place path={x.path} />
              </td>
              <td className="wide-only">
                <Ago at={x.started_at} />
              </td>
              <td className="wide-only">
                <Ago at={x.changed_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** channelOf is where a run's conversation is held. */
export function channelOf(channel: string, r: TextsOf<typeof runTexts>): string {
  return (
    (
      { whatsapp: "WhatsApp", web_chat: r.channelChat, web_voice: r.channelVoice, phone: r.channelPhone } as Record<
        string,
        string
      >
    )[channel] ?? channel
  );
}

/** whoOf is the contact of a run. */
export function whoOf(x: { name: string; number: string; username?: string }, unnamed: string): string {
  return x.name || (x.number ? phone(x.number) : x.username ? "@" + x.username : unnamed);
}
