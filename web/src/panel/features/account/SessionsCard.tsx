import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { del, get } from "../../api";
import { browserName } from "../../format";
import { useTexts } from "../../i18n";
import { Ago } from "../../ui/Ago";
import { confirm } from "../../ui/confirm";
import { Card, Failed, Rows, Tag } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { texts } from "./texts";

/** SessionsCard lists where the person is signed in. */
export function SessionsCard() {
  const t = useTexts(texts);
  const client = useQueryClient();
  const [ending, setEnding] = useState("");
  const list = useQuery({ queryKey: ["sessions"], queryFn: ({ signal }) => get("/sessions", {}, signal) });
  const after = async (id: string, what: () => Promise<void>, text: string) => {
    setEnding(id);
    try {
      await what();
      succeeded(text);
      await client.invalidateQueries({ queryKey: ["sessions"] });
    } catch (e) {
      failed(e);
    } finally {
      setEnding("");
    }
  };
  const others = async () => {
    if (await confirm({ title: t.endOthersTitle, text: t.endOthersText, action: t.endOthers, danger: true }))
      await after("others", () => del("/user/sessions"), t.othersEnded);
  };
  if (list.isPending) return <Rows n={2} />;
  if (list.isError)
    return (
      <Card title={t.sessions}>
        <Failed error={list.error} retry={() => void list.refetch()} />
      </Card>
    );
  const rows = [...list.data.data].sort((a, b) => Number(b.current) - Number(a.current));
  return (
    <Card
      title={t.sessions}
      flush
      actions={
        rows.length > 1 && (
          <Button variant="default" size="xs" loading={ending === "others"} onClick={() => void others()}>
            {t.endOthers}
          </Button>
        )
      }
    >
      <p className="muted" style={{ margin: "4px 24px 8px" }}>
        {t.sessionsAbout}
      </p>
      <div className="table-wrap">
        <table className="table">
          <thead>
            <tr>
              <th>{t.device}</th>
              <th className="wide-only">{t.address}</th>
              <th>{t.used}</th>
              <th className="wide-only">{t.expires}</th>
              <th>
                <span className="hidden">{t.end}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((x) => (
              <tr key={x.id}>
                <td>
                  <span className="row-title">{x.agent ? browserName(x.agent) : t.over}</span>
                  {x.current && (
                    <>
                      {" "}
                      <Tag tone="ok">{t.here}</Tag>
                    </>
                  )}
                </td>
                <td className="wide-only">
                  <code>{x.address || "–"}</code>
                </td>
                <td>
                  <Ago at={x.used_at} />
                </td>
                <td className="wide-only">
                  <Ago at={x.expires_at} />
                </td>
                <td>
                  {!x.current && (
                    <Button
                      variant="subtle"
                      color="red"
                      size="compact-sm"
                      loading={ending === x.id}
                      onClick={() => void after(x.id, () => del(`/sessions/${x.id}`), t.ended)}
                    >
                      {t.end}
                    </Button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
