import { Button, Checkbox, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { get, send as request } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { addressee, numberIn, phone } from "../../ui/number";
import { Failed, Note, Rows } from "../../ui/parts";
import { problemText, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { id } from "../../ui/id";
import { corrected } from "./corrected";
import { explained } from "./reasons";
import { bulkTexts, type PageTexts, pageTexts } from "./texts";
import type { Resendable, SentPage } from "./types";

/** Resend sends the same to failed recipients again, as a notification of its own, or to corrected numbers, each as one. */
export function Resend({ page: n, close }: { page: SentPage; close: () => void }) {
  const p = useTexts(pageTexts);
  const b = useTexts(bulkTexts);
  const s = useTexts(shared);
  const company = useCompany();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [chosen, choose] = useState<Set<number>>();
  const [numbers, setNumbers] = useState<ReadonlyMap<number, string>>(new Map());
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<ReactNode>("");
  const all = useQuery({
    queryKey: [company.id, "notifications", n.notification_id, "resend"],
    gcTime: 0,
    staleTime: Infinity,
    queryFn: async ({ signal }) => {
      const at = `/notifications/${n.notification_id}` as const;
      const [failed, original] = await Promise.all([get(`${at}/resend`, {}, signal), get(`${at}/request`, {}, signal)]);
      return { rows: failed.data, original };
    },
    retry: false,
  });
  const [reached, setReached] = useState(false);
  const keys = useRef(new Map<string, string>()); // the same again is the same request
  const done = useRef(new Set<string>()); // the requests that were accepted, where a later one failed
  const rows = all.data?.rows ?? [];
  const likely = (of: Resendable[]) => of.filter((r) => !r.not && !r.caution).map((r) => r.n);
  useEffect(() => {
    if (all.data) choose(new Set(likely(all.data.rows)));
  }, [all.data]);
  const to = (r: Resendable) => correctionOf(r, numbers.get(r.n));
  const may = (r: Resendable) => !r.not || (reached && r.not === "resent") || numbers.has(r.n);
  const can = rows.filter(may),
    cannot = rows.filter((r) => !may(r)),
    before = rows.filter((r) => r.not === "resent");
  const picked = can.filter((r) => chosen?.has(r.n));
  const invalid = picked.some((r) => to(r) === "" || (r.not && r.not !== "resent" && to(r) === undefined));
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
  const correct = (r: Resendable, number: string) => {
    setNumbers(new Map(numbers).set(r.n, number));
    choose((now) => new Set(now).add(r.n));
  };
  const once = async <T,>(body: object, run: (headers: Record<string, string>) => Promise<T>) => {
    const text = JSON.stringify(body);
    if (done.current.has(text)) return undefined;
    if (!keys.current.has(text)) keys.current.set(text, id());
    const made = await run({ "Idempotency-Key": keys.current.get(text)! });
    done.current.add(text);
    return made;
  };
  const send = async () => {
    setBusy(true);
    setFault("");
    try {
      const same = picked.filter((r) => to(r) === undefined).map((r) => r.n);
      const made: ({ notification_id: string } | undefined)[] = [];
      if (same.length > 0) {
        const body = { recipients: same.sort((x, y) => x - y), reached };
        const at = `/notifications/${n.notification_id}/resend` as const;
        made.push(await once(body, (headers) => request("post", at, { body, headers })));
      }
      for (const r of picked) {
        const body = to(r) && corrected(all.data!.original, r.n, to(r)!);
        if (body) made.push(await once(body, (headers) => request("post", "/notifications", { body, headers })));
      }
      succeeded(p.resent);
      void client.invalidateQueries({ queryKey: [company.id, "notifications", n.notification_id], exact: true });
      close();
      const [first] = made;
      if (first && made.length === 1)
        void navigate({ to: "/notifications/$id", params: { id: first.notification_id } });
    } catch (e) {
      setFault(problemText(e));
      setBusy(false);
    }
  };
  const count = picked.length;
  const correctable = !!all.data && !all.data.original.unflatten;
  const number = (r: Resendable) =>
    numbers.has(r.n) ? (
      <TextInput
        mt={6}
        ml={8}
        maw={280}
        size="sm"
        type="tel"
        autoFocus
        aria-label={fill(p.numberOf, { who: nameOf(r) })}
        value={numbers.get(r.n)}
        error={to(r) === "" && b.badNumber}
        onChange={(e) => correct(r, e.currentTarget.value)}
      />
    ) : (
      correctable && (
        <Button
          variant="subtle"
          size="compact-xs"
          aria-label={fill(p.correctOf, { who: nameOf(r) })}
          onClick={() => correct(r, phone(r.number ?? ""))}
        >
          {p.correct}
        </Button>
      )
    );
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
            {can.length > 0 && count === 0 && likely(can).length === 0 && (
              <Note tone="warn">
                <p>{p.allUnlikely}</p>
              </Note>
            )}
            {can.length > 1 && (
              <Checkbox
                size="xs"
                label={p.everyone}
                checked={count === can.length}
                indeterminate={count > 0 && count < can.length}
                onChange={() => choose(new Set(count === can.length ? [] : can.map((r) => r.n)))}
              />
            )}
            {can.length > 0 && (
              <div className="sent-pick" role="group" aria-label={p.recipients}>
                {can.map((r) => (
                  <div key={r.n}>
                    <Checkbox
                      checked={chosen?.has(r.n) ?? false}
                      onChange={() => toggle(r)}
                      label={nameOf(r)}
                      description={<Why row={r} p={p} />}
                    />
                    <div className="sent-correct">{number(r)}</div>
                  </div>
                ))}
              </div>
            )}
            {cannot.length > 0 && (
              <div>
                <h3 className="small muted sent-sub">{p.cannot}</h3>
                <ul className="sent-cannot">
                  {cannot.map((r) => (
                    <li key={r.n}>
                      <span>{nameOf(r)}</span>
                      <span className="small muted">
                        {(p as Record<string, string>)["not_" + r.not]} {number(r)}
                      </span>
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
              {can.length > 0 && count === 0 && <span className="small muted">{p.resendNone}</span>}
              <Button variant="default" onClick={close}>
                {s.cancel}
              </Button>
              {can.length > 0 && (
                <Button type="submit" loading={busy} disabled={count === 0 || invalid}>
                  {count === 1 ? p.resendOne : fill(p.resendDo, { n: count })}
                </Button>
              )}
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}

const nameOf = (r: Resendable) => (r.name ? `${r.name} · ${addressee(r)}` : addressee(r));

/** correctionOf is another number that was typed for a recipient: undefined where it is the same, "" where it is none. */
function correctionOf(r: Resendable, typed: string | undefined): string | undefined {
  if (typed === undefined) return undefined;
  const number = numberIn(typed);
  return number === r.number ? undefined : number;
}

function Why({ row: r, p }: { row: Resendable; p: PageTexts }) {
  return (
    <>
      {explained(r.reason, r.detail)?.why}
      {r.caution && <> · {(p as Record<string, string>)["caution_" + r.caution]}</>}
    </>
  );
}
