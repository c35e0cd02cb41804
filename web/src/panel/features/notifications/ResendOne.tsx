import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState, type ReactNode } from "react";
import { get, send as request } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { addressee, numberIn, phone } from "../../ui/number";
import { Failed, Note, Rows } from "../../ui/parts";
import { problemText, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { id } from "../../ui/id";
import { byCall, CallInstead } from "./CallInstead";
import { corrected } from "./corrected";
import { explained } from "./reasons";
import { bulkTexts, pageTexts } from "./texts";
import type { SentPage } from "./types";

/** ResendOne sends the same to the only failed recipient again, or to a corrected number. */
export function ResendOne({ page: n, close }: { page: SentPage; close: () => void }) {
  const b = useTexts(bulkTexts);
  const p = useTexts(pageTexts) as Record<string, string>;
  const s = useTexts(shared);
  const company = useCompany();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [number, setNumber] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<ReactNode>("");
  const keys = useRef(new Map<string, string>()); // the same again is the same request
  const asked = useQuery({
    queryKey: [company.id, "notifications", n.notification_id, "resend", "one"],
    gcTime: 0,
    staleTime: Infinity,
    retry: false,
    queryFn: async ({ signal }) => {
      const at = `/notifications/${n.notification_id}` as const;
      const [all, original] = await Promise.all([get(`${at}/resend`, {}, signal), get(`${at}/request`, {}, signal)]);
      return { failed: all.data[0], original };
    },
  });
  const { failed, original } = asked.data ?? {};
  const typed = number ?? phone(failed?.number ?? "");
  const to = numberIn(typed);
  const other = !!failed && to !== "" && to !== failed.number;
  const changed = failed && original && other ? corrected(original, failed.n, to) : undefined;
  const why = failed && explained(failed.reason, failed.detail);
  const send = async () => {
    setBusy(true);
    setFault("");
    try {
      const again = { recipients: [failed!.n], reached: false };
      const same = JSON.stringify(changed ?? again);
      if (!keys.current.has(same)) keys.current.set(same, id());
      const headers = { "Idempotency-Key": keys.current.get(same)! };
      const made = await (changed
        ? request("post", "/notifications", { body: changed, headers })
        : request("post", `/notifications/${n.notification_id}/resend`, { body: again, headers }));
      succeeded(p.resent!);
      void client.invalidateQueries({ queryKey: [company.id, "notifications", n.notification_id], exact: true });
      close();
      void navigate({ to: "/notifications/$id", params: { id: made.notification_id } });
    } catch (e) {
      setFault(problemText(e));
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={close} title={b.again} closeButtonProps={{ "aria-label": s.close }}>
      {asked.isPending ? (
        <Rows n={2} />
      ) : asked.isError ? (
        <Failed error={asked.error} retry={() => void asked.refetch()} />
      ) : !failed ? (
        <p>{p.nobodyToResend}</p>
      ) : (
        <form
          onSubmit={(e) => {
            e.preventDefault();
            void send();
          }}
        >
          <Stack>
            <Note tone="warn">
              <p>
                {fill(b.failedTo, { who: [failed.name, addressee(failed)].filter(Boolean).join(", ") })} {why?.why}.
              </p>
              {failed.not && !other && <p>{p["not_" + failed.not]}</p>}
              {failed.caution && !other && <p>{p["caution_" + failed.caution]}</p>}
              {byCall(failed) && !other && <CallInstead to={failed} campaign={n.campaign_name} />}
            </Note>
            <TextInput
              label={b.number}
              description={original?.unflatten ? undefined : b.correct}
              type="tel"
              value={typed}
              readOnly={original?.unflatten}
              error={to === "" ? b.badNumber : undefined}
              onChange={(e) => setNumber(e.currentTarget.value)}
            />
            {fault && (
              <Note tone="danger">
                <p>{fault}</p>
              </Note>
            )}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {s.cancel}
              </Button>
              <Button type="submit" loading={busy} disabled={to === "" || (!!failed.not && !other)}>
                {other ? b.sendOther : b.sendAgain}
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}
