import { Button, Drawer } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { useState } from "react";
import { fill, useTexts } from "../../i18n";
import { Ago } from "../../ui/Ago";
import { Card, Empty, Failed, Rows, Tag } from "../../ui/parts";
import { shared } from "../../ui/texts";
import { Drawing } from "./Drawing";
import { StepList } from "./StepList";
import { texts } from "./texts";
import type { Flow } from "./types";
import { useVersion, useVersions } from "./useFlows";
import { useNames } from "./useNames";

/** Versions is what was published of a flow, the newest first. */
export function Versions({ id, take }: { id: string; take?: (f: Flow, n: number) => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const list = useVersions(id);
  const [looked, look] = useState(0);
  if (list.isPending) return <Rows n={3} />;
  if (list.isError) return <Failed error={list.error} retry={() => void list.refetch()} />;
  return (
    <Card flush label={t.versions}>
      {list.data.length === 0 ? (
        <Empty icon={<IconHistory size={22} />} title={t.noVersions} text={t.noVersionsText} />
      ) : (
        <div className="table-wrap">
          <table className="table">
            <thead>
              <tr>
                <th>{t.version}</th>
                <th>{t.since}</th>
                <th>
                  <span className="hidden">{s.actions}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {list.data.map((v) => (
                <tr key={v.version}>
                  <td>
                    <div className="tags">
                      <span>{v.version}</span>
                      {v.current && <Tag tone="ok">{t.isCurrent}</Tag>}
                    </div>
                  </td>
                  <td>
                    <Ago at={v.created_at} />
                  </td>
                  <td>
                    <Button
                      variant="default"
                      size="compact-sm"
                      onClick={() => look(v.version)}
                      aria-label={`${t.look}: ${v.version}`}
                    >
                      {t.look}
                    </Button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
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
    </Card>
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
