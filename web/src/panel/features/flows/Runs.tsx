import { phone } from "../../ui/number";
import { SegmentedControl, Select } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useTexts, type TextsOf } from "../../i18n";
import { Ago, agoWidth } from "../../ui/Ago";
import type { Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { Empty } from "../../ui/parts";
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
  const t = useTexts(texts);
  const navigate = useNavigate();
  const list = useRuns({ flow, state });
  const go = (to: { flow?: string; state?: "failed" }) =>
    void navigate({ to: ".", replace: true, search: (now) => ({ ...now, ...to }) });
  const columns: Column<RunRow>[] = [
    {
      id: "contact",
      label: r.contact,
      fixed: true,
      cell: (x) => (
        <>
          <span className="cut">{whoOf(x, r.unnamed)}</span>
          <span className="small muted wide-only">{channelOf(x.channel, r)}</span>
        </>
      ),
    },
    ...(only
      ? []
      : [
          {
            id: "flow",
            label: r.flow,
            width: "22%",
            from: "tablet" as const,
            cell: (x: RunRow) => <span title={x.flow}>{x.flow || t.removedFlow}</span>,
          },
        ]),
    { id: "state", label: r.state, width: 200, cell: (x) => <RunState state={x.state} /> },
    { id: "where", label: r.where, width: 124, from: "tablet", cell: (x) => <Place path={x.path} /> },
    { id: "started", label: r.started, width: agoWidth, from: "desktop", cell: (x) => <Ago at={x.started_at} /> },
    { id: "changed", label: r.changed, width: agoWidth, from: "tablet", cell: (x) => <Ago at={x.changed_at} /> },
  ];
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
      <Listed
        label={r.run}
        query={list}
        rows={list.data?.pages.flatMap((p) => p.data) ?? []}
        columns={columns}
        id={(x) => x.id}
        name={(x) => whoOf(x, r.unnamed)}
        under={(x) => (
          <>
            {only ? channelOf(x.channel, r) : x.flow || t.removedFlow} · <Ago at={x.changed_at} />
          </>
        )}
        target={(x) => ({ to: "/flows/runs/$id", params: { id: x.id } })}
        empty={<Empty icon={<IconPlayerPlay size={22} />} title={r.noRuns} text={r.noRunsText} />}
      />
    </>
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
