import { Button, Drawer } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { useState } from "react";
import { fill, useTexts } from "../../i18n";
import { Ago, agoWidth } from "../../ui/Ago";
import type { Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { Empty, Failed, Rows, Tag } from "../../ui/parts";
import { shared } from "../../ui/texts";
import { Drawing } from "./Drawing";
import { StepList } from "./StepList";
import { texts } from "./texts";
import type { Flow, VersionRow } from "./types";
import { useVersion, useVersions } from "./useFlows";
import { useNames } from "./useNames";

/** Versions is what was published of a flow, the newest first. */
export function Versions({ id, take }: { id: string; take?: (f: Flow, n: number) => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const list = useVersions(id);
  const [looked, look] = useState(0);
  const columns: Column<VersionRow>[] = [
    {
      id: "version",
      label: t.version,
      fixed: true,
      cell: (v) => (
        <>
          <span className="hidden">{t.look}: </span>
          <span>{v.version}</span>
          {v.current && <Tag tone="ok">{t.isCurrent}</Tag>}
        </>
      ),
    },
    { id: "since", label: t.since, width: agoWidth, cell: (v) => <Ago at={v.created_at} /> },
  ];
  return (
    <>
      <Listed
        label={t.versions}
        query={list}
        rows={list.data ?? []}
        columns={columns}
        id={(v) => String(v.version)}
        name={(v) => `${t.look}: ${v.version}`}
        target={(v) => ({ open: () => look(v.version) })}
        empty={<Empty icon={<IconHistory size={22} />} title={t.noVersions} text={t.noVersionsText} />}
      />
      <Drawer
        opened={looked > 0}
        onClose={() => look(0)}
        title={fill(t.shown, { n: looked })}
        position="right"
        size={560}
        closeButtonProps={{ "aria-label": s.close }}
      >
        {looked > 0 && (
          <Former
            id={id}
            n={looked}
            take={
              take &&
              ((f) => {
                look(0);
                take(f, looked);
              })
            }
          />
        )}
      </Drawer>
    </>
  );
}

/** Former is one version, which can become the draft again. */
function Former({ id, n, take }: { id: string; n: number; take?: (f: Flow) => void }) {
  const t = useTexts(texts);
  const one = useVersion(id, n);
  const names = useNames();
  const [chosen, choose] = useState("");
  if (one.isError) return <Failed error={one.error} retry={() => void one.refetch()} />;
  const f = one.data?.flow;
  if (!f) return <Rows n={3} />;
  return (
    <div className="stack">
      {take && (
        <div>
          <Button onClick={() => take(f)}>{t.takeBack}</Button>
        </div>
      )}
      <div className="flow-framed">
        <Drawing steps={f.steps} chosen={chosen} faults={[]} choose={choose} names={names} />
      </div>
      <StepList steps={f.steps} faults={[]} chosen={chosen} choose={choose} names={names} />
    </div>
  );
}
