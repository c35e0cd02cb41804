import { Button } from "@mantine/core";
import { IconLogout } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { del, get } from "../../api";
import { browserName } from "../../format";
import { fill, useTexts } from "../../i18n";
import { Ago, agoWidth } from "../../ui/Ago";
import { confirm } from "../../ui/confirm";
import type { Column } from "../../ui/list/List";
import { Listed } from "../../ui/list/Listed";
import { More } from "../../ui/More";
import { Tag } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import css from "./account.module.css";
import { texts } from "./texts";
import type { Session } from "./types";

/** SessionsCard lists where the person is signed in. */
export function SessionsCard() {
  const t = useTexts(texts);
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const list = useQuery({ queryKey: ["sessions"], queryFn: ({ signal }) => get("/sessions", {}, signal) });
  const after = async (what: () => Promise<void>, text: string) => {
    await what();
    succeeded(text);
    await client.invalidateQueries({ queryKey: ["sessions"] });
  };
  const others = async () => {
    if (!(await confirm({ title: t.endOthersTitle, text: t.endOthersText, action: t.endOthers, danger: true }))) return;
    setBusy(true);
    try {
      await after(() => del("/user/sessions"), t.othersEnded);
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  const rows = [...(list.data?.data ?? [])].sort((a, b) => Number(b.current) - Number(a.current));
  const device = (x: Session) => (x.agent ? browserName(x.agent) : t.over);
  const columns: Column<Session>[] = [
    {
      id: "device",
      label: t.device,
      fixed: true,
      by: device,
      cell: (x) => (
        <>
          <span className="cut">{device(x)}</span>
          {x.current && <Tag tone="ok">{t.here}</Tag>}
        </>
      ),
    },
    {
      id: "address",
      label: t.address,
      width: "22%",
      from: "tablet",
      by: (x) => x.address,
      cell: (x) => <code title={x.address}>{x.address || "–"}</code>,
    },
    { id: "used", label: t.used, width: agoWidth, by: (x) => x.used_at ?? "", cell: (x) => <Ago at={x.used_at} /> },
    {
      id: "expires",
      label: t.expires,
      width: agoWidth,
      from: "tablet",
      by: (x) => x.expires_at ?? "",
      cell: (x) => <Ago at={x.expires_at} />,
    },
  ];
  return (
    <Listed
      label={t.sessions}
      title={t.sessions}
      query={list}
      rows={rows}
      columns={columns}
      id={(x) => x.id}
      name={device}
      head={
        <div className={css.about}>
          <p className="muted">{t.sessionsAbout}</p>
          {rows.length > 1 && (
            <Button variant="default" size="xs" loading={busy} onClick={() => void others()}>
              {t.endOthers}
            </Button>
          )}
        </div>
      }
      tools={(x) =>
        !x.current && (
          <More
            of={device(x)}
            acts={[
              {
                label: t.end,
                icon: <IconLogout size={16} />,
                danger: true,
                ask: { title: fill(t.endTitle, { device: device(x) }), text: t.endText },
                run: () => after(() => del(`/sessions/${x.id}`), t.ended),
              },
            ]}
          />
        )
      }
      empty={null}
    />
  );
}
