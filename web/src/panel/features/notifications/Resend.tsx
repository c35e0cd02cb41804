import { addressee } from "../../ui/number";
import { Button, Checkbox, Group, Modal, Stack } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { get, send as request } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { Failed, Note, Rows } from "../../ui/parts";
import { problemText, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { id } from "../../ui/id";
import { type PageTexts, pageTexts } from "./texts";
import { explained } from "./reasons";
import type { Resendable, SentPage } from "./types";

/** Resend sends the same to failed recipients again, as a notification of its own. */
export function Resend({ page: n, close }: { page: SentPage; close: () => void }) {
  const p = useTexts(pageTexts);
  const s = useTexts(shared);
  const company = useCompany();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [chosen, choose] = useState<Set<number>>();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<ReactNode>("");
  const all = useQuery({
    queryKey: [company.id, "notifications", n.notification_id, "resend"],
    gcTime: 0,
    staleTime: Infinity,
    queryFn: ({ signal }) => get(`/notifications/${n.notification_id}/resend`, {}, signal),
    retry: false,
  });
  const [reached, setReached] = useState(false);
  const keys = useRef(new Map<string, string>()); // the same again is the same request
  const rows = all.data?.data ?? [];
  useEffect(() => {
    if (all.data) choose(new Set(all.data.data.filter((r) => !r.not && !r.caution).map((r) => r.n)));
  }, [all.data]);
  const may = (r: Resendable) => !r.not || (reached && r.not === "resent");
  const can = rows.filter(may),
    cannot = rows.filter((r) => !may(r)),
    before = rows.filter((r) => r.not === "resent");
  const include = (on: boolean) => {
    setReached(on);
    if (!on) choose((now) => new Set([...(now ?? [])].filter((i) => !before.some((r) => r.n === i))));
  };
  const toggle = (r: Resendable) =>
    choose((now) => {
      const next = new Set(now);
      if (!next.delete(r.n)) next.add(r.n);
      return next;
    });
  const send = async () => {
    setBusy(true);
    setFault("");
    try {
      const body = { recipients: [...chosen!].sort((a, b) => a - b), reached },
        text = JSON.stringify(body);
      if (!keys.current.has(text)) keys.current.set(text, id());
      const r = await request("post", `/notifications/${n.notification_id}/resend`, {
        body,
        headers: { "Idempotency-Key": keys.current.get(text)! },
      });
      succeeded(p.resent);
      void client.invalidateQueries({ queryKey: [company.id, "notifications", n.notification_id], exact: true });
      close();
      void navigate({ to: "/notifications/$id", params: { id: r.notification_id } });
    } catch (e) {
      setFault(problemText(e));
      setBusy(false);
    }
  };
  const count = chosen?.size ?? 0;
  return (
    <Modal opened onClose={close} title={p.resendTitle} size="lg" closeButtonProps={{ "aria-label": s.close }}>
      {all.isPending ? (
        <Rows n={3} />
      ) : all.isLoadingError ? (
        <Failed error={all.error} retry={() => void all.refetch()} />
      ) : (
        <form
          onSubmit={(e) => {
            e.preventDefault();
            void send();
          }}
        >
          <Stack>
            {can.length === 0 ? (
              <Note tone="warn">
                <p>{p.nobodyToResend}</p>
              </Note>
            ) : (
              <p className="sent-note">{p.resendAbout}</p>
            )}
            {can.length > 0 && (
              <div className="sent-pick" role="group" aria-label={p.recipients}>
                {can.map((r) => (
                  <Checkbox
                    key={r.n}
                    checked={chosen?.has(r.n) ?? false}
                    onChange={() => toggle(r)}
                    label={r.name ? `${r.name} · ${addressee(r)}` : addressee(r)}
                    description={<Why row={r} p={p} />}
                  />
                ))}
              </div>
            )}
            {cannot.length > 0 && (
              <div>
                <h3 className="small muted sent-sub">{p.cannot}</h3>
                <ul className="sent-cannot">
                  {cannot.map((r) => (
                    <li key={r.n}>
                      <span>{r.name ? `${r.name} · ${addressee(r)}` : addressee(r)}</span>
                      <span className="small muted">{(p as Record<string, string>)["not_" + r.not]}</span>
                    </li>
                  ))}
                </ul>
              </div>
            )}
            {before.length > 0 && (
              <Checkbox
                checked={reached}
                onChange={(e) => include(e.currentTarget.checked)}
                label={p.includeReached}
                description={p.includeReachedHelp}
              />
            )}
            {fault && (
              <Note tone="danger">
                <p>{fault}</p>
              </Note>
            )}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {s.cancel}
              </Button>
              {can.length > 0 && (
                <Button type="submit" loading={busy} disabled={count === 0}>
                  {count === 0 ? p.resendNone : count === 1 ? p.resendOne : fill(p.resendDo, { n: count })}
                </Button>
              )}
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}

function Why({ row: r, p }: { row: Resendable; p: PageTexts }) {
  return (
    <>
      {explained(r.reason, r.detail)?.why}
      {r.caution && <> · {(p as Record<string, string>)["caution_" + r.caution]}</>}
    </>
  );
}
