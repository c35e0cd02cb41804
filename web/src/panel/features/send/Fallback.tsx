import { Checkbox, Select } from "@mantine/core";
import type { ReactNode } from "react";
import { useTexts } from "../../i18n";
import { phone } from "../../ui/number";
import { useList } from "../../ui/resources";
import { useLines } from "../lines/useLines";
import { afters, type FollowUp } from "./message";
import { texts } from "./texts";

/** Fallback is the call to people whom the message does not reach; companies without a phone line or an agent have none. */
export function Fallback({
  value,
  change,
  faults,
}: {
  value?: FollowUp;
  change: (to: FollowUp | undefined) => void;
  faults: Record<string, ReactNode>;
}) {
  const t = useTexts(texts);
  const lines = useLines().data ?? [];
  const agents = useList("agents").data ?? [];
  const line = (lines.find((l) => l.default) ?? lines[0])?.id;
  if (!line || agents.length === 0) return null;
  const first = { after: "15m", agent: agents.length === 1 ? agents[0]!.id : "", line };
  return (
    <div className="send-when">
      <Checkbox
        label={t.fallback}
        description={t.fallbackHelp}
        checked={value !== undefined}
        error={faults.fallback}
        onChange={(e) => change(e.currentTarget.checked ? first : undefined)}
      />
      {value && (
        <div className="send-later stack" role="group" aria-label={t.fallback}>
          <div className="send-pair">
            <Select
              label={t.fallbackAfter}
              allowDeselect={false}
              data={afters.map((x) => ({ value: x, label: t[`after_${x}`] }))}
              value={value.after}
              onChange={(after) => after && change({ ...value, after })}
            />
            <Select
              label={t.agent}
              placeholder={t.chooseAgent}
              searchable
              allowDeselect={false}
              data={agents.map((a) => ({ value: a.id, label: a.name || a.id }))}
              value={value.agent || null}
              error={faults["fallback.agent_id"]}
              onChange={(agent) => change({ ...value, agent: agent ?? "" })}
            />
          </div>
          {lines.length > 1 && (
            <Select
              label={t.line}
              allowDeselect={false}
              data={lines.map((l) => ({ value: l.id ?? "", label: `${l.id} · ${phone(l.number ?? "")}` }))}
              value={value.line}
              error={faults["fallback.recipient_id"]}
              onChange={(id) => id && change({ ...value, line: id })}
            />
          )}
        </div>
      )}
    </div>
  );
}
