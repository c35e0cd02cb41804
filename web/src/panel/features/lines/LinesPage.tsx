import { phone } from "../../ui/number";
import { Button } from "@mantine/core";
import { IconPhone, IconPlus } from "@tabler/icons-react";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import type { Agent } from "../agents/types";
import type { VoiceLine } from "./types";
import { Card, Empty, Failed, Page, Rows } from "../../ui/parts";
import { useList } from "../../ui/resources";
import { AddLine } from "./AddLine";
import { Calls, LineState } from "./State";
import { parse } from "./trunk";
import { texts } from "./texts";
import { useLines } from "./useLines";

export function LinesPage() {
  return (
    <Needs permission="senders:read">
      <Lines />
    </Needs>
  );
}

function Lines() {
  const t = useTexts(texts);
  const can = useCan();
  const navigate = useNavigate();
  const [adding, setAdding] = useState(false);
  const list = useLines();
  const agents = useList("agents");
  const create = can("senders:write") && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
      {t.create}
    </Button>
  );
  return (
    <Page title={t.title} about={t.about} actions={list.data?.length ? create : null}>
      {list.isPending ? (
        <Rows n={3} />
      ) : list.isLoadingError ? (
        <Failed error={list.error} retry={() => void list.refetch()} />
      ) : (
        <Card flush label={t.title}>
          {list.data.length === 0 ? (
            <Empty icon={<IconPhone size={22} />} title={t.empty} text={t.emptyText}>
              {create}
            </Empty>
          ) : (
            <div className="table-wrap">
              <table className="table">
                <thead>
                  <tr>
                    <th>{t.line}</th>
                    <th className="wide-only">{t.kind}</th>
                    <th className="wide-only">{t.agent}</th>
                    <th>{t.calls}</th>
                    <th>{t.state}</th>
                  </tr>
                </thead>
                <tbody>
                  {list.data.map((l) => (
                    <Row key={l.id} line={l} agents={agents.data} />
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Card>
      )}
      <AddLine
        opened={adding}
        close={() => setAdding(false)}
        made={(id) => void navigate({ to: "/lines/$id", params: { id } })}
      />
    </Page>
  );
}

function Row({ line: l, agents }: { line: VoiceLine; agents?: Agent[] }) {
  const t = useTexts(texts);
  const agent = l.line.agent && (agents?.find((a) => a.id === l.line.agent)?.name ?? l.line.agent);
  return (
    <tr>
      <td>
        <Link className="row-title" to="/lines/$id" params={{ id: l.id }}>
          {phone(l.number)}
        </Link>
        <div className="small muted">
          {l.id}
          {l.default && <> · {t.standard}</>}
        </div>
      </td>
      <td className="wide-only">
        {l.provider === "sip" || l.provider === "sandbox" ? t[l.provider] : l.provider}
        {l.line.trunk && (
          <div className="small muted cut" style={{ maxWidth: 220 }}>
            {parse(l.line.trunk).host}
          </div>
        )}
      </td>
      <td className="wide-only">
        {l.provider !== "sip" ? <span className="muted">–</span> : agent || <span className="muted">{t.nobody}</span>}
      </td>
      <td className="nowrap">
        <Calls line={l} />
      </td>
      <td>
        <LineState line={l} />
      </td>
    </tr>
  );
}
