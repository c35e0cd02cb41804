import { Button } from "@mantine/core";
import { IconClockEdit, IconCode, IconCopy, IconRefresh, IconX } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { get, post } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { confirm } from "../../ui/confirm";
import { More } from "../../ui/More";
import { failed, succeeded } from "../../ui/problem";
import { base } from "../widgets/places";
import { curlOf } from "./curl";
import { Move } from "./Move";
import { bulkTexts, pageTexts } from "./texts";
import { Resend } from "./Resend";
import { ResendOne } from "./ResendOne";
import { of, type SentPage } from "./types";

/** Actions are what can be done with a notification now. */
export function Actions({ page: n }: { page: SentPage }) {
  const p = useTexts(pageTexts);
  const b = useTexts(bulkTexts);
  const language = useLanguage();
  const can = useCan();
  const company = useCompany();
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [form, setForm] = useState<"move" | "resend">();
  const key = [company.id, "notifications", n.notification_id];
  const waits = of(n, "scheduled", "queued"),
    failures = of(n, "failed");
  const calls = n.recipients.filter(callWaits).length;
  const begun = n.recipients.some((r) => r.attempts > 0);
  const started = n.total - waits - of(n, "skipped", "canceled");
  const cancel = async () => {
    const text = [
      waits > 0 ? fill(p.cancelText, { n: number(waits, language), total: number(n.total, language) }) : "",
      calls > 0 ? fill(p.cancelCalls, { n: number(calls, language) }) : "",
      started > 0 ? fill(p.cancelSent, { n: number(started, language) }) : "",
    ]
      .filter(Boolean)
      .join(" ");
    if (!(await confirm({ title: p.cancelTitle, text, action: p.cancelDo, cancel: p.keep, danger: true }))) return;
    setBusy(true);
    const before = client.getQueryData<SentPage>(key);
    client.setQueryData<SentPage>(key, (now) => now && canceled(now));
    try {
      const r = await post(`/notifications/${n.notification_id}/cancel`);
      succeeded(
        waits > 0
          ? fill(p.wasCanceled, { n: number(r.canceled, language), sent: number(r.already_sent, language) })
          : fill(p.wasCanceledCalls, { n: number(r.fallbacks_canceled ?? 0, language) }),
      );
    } catch (e) {
      client.setQueryData(key, before);
      failed(e);
    } finally {
      setBusy(false);
      void client.invalidateQueries({ queryKey: key, exact: true });
    }
  };
  const copy = async (text: string, done = p.copied) => {
    await navigator.clipboard.writeText(text);
    succeeded(done);
  };
  const curl = async () => copy(curlOf(base, await get(`/notifications/${n.notification_id}/request`)), p.curlCopied);
  const send = can("notifications:send");
  return (
    <>
      {send && failures > 0 && n.channel === "messaging" && n.kept && (
        <Button leftSection={<IconRefresh size={16} />} onClick={() => setForm("resend")}>
          {failures === 1 ? b.sendAgain : p.resend}
        </Button>
      )}
      {send && waits > 0 && !begun && (
        <Button variant="default" leftSection={<IconClockEdit size={16} />} onClick={() => setForm("move")}>
          {p.move}
        </Button>
      )}
      {send && waits + calls > 0 && (
        <Button
          color="red"
          variant="light"
          loading={busy}
          leftSection={<IconX size={16} />}
          onClick={() => void cancel()}
        >
          {p.cancel}
        </Button>
      )}
      <More
        acts={[
          n.kept && { label: p.curl, icon: <IconCode size={16} />, run: curl },
          { label: p.copyId, icon: <IconCopy size={16} />, run: () => copy(n.notification_id) },
          {
            label: p.copyIds,
            icon: <IconCopy size={16} />,
            run: () => copy(n.recipients.map((r) => r.message_id).join("\n")),
          },
          {
            label: p.copyNumbers,
            icon: <IconCopy size={16} />,
            run: () => copy(n.recipients.map((r) => r.number || r.user_id).join("\n")),
          },
        ]}
      />
      {form === "move" && <Move page={n} close={() => setForm(undefined)} />}
      {form === "resend" && failures > 1 && <Resend page={n} close={() => setForm(undefined)} />}
      {form === "resend" && failures === 1 && <ResendOne page={n} close={() => setForm(undefined)} />}
    </>
  );
}

/** callWaits reports whether a call may still follow the message to a recipient. */
const callWaits = ({ fallback: f, state }: SentPage["recipients"][number]): boolean =>
  state !== "scheduled" &&
  state !== "queued" &&
  (f?.state === "waiting" || (f?.state === "called" && f.call_state === "queued"));

/** canceled is a notification as it will be once it is canceled. */
export function canceled(n: SentPage): SentPage {
  const { scheduled = 0, queued = 0, ...counts } = n.counts;
  return {
    ...n,
    state: n.recipients.some((r) => r.attempts > 0) ? n.state : "canceled",
    counts: { ...counts, canceled: (counts.canceled ?? 0) + scheduled + queued },
    recipients: n.recipients.map((r) => ({
      ...r,
      ...(r.state === "scheduled" || r.state === "queued"
        ? { state: "canceled", reason: "canceled", due_at: undefined }
        : {}),
      ...(r.fallback && callWaits(r)
        ? { fallback: { ...r.fallback, state: "canceled" as const, due_at: undefined } }
        : {}),
    })),
  };
}
