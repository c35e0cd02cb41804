import { IconDownload, IconRefresh, IconX } from "@tabler/icons-react";
import { useRef } from "react";
import { get, post, send } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCan } from "../../session";
import type { Bulk } from "../../ui/list/BulkDialog";
import { Refused } from "../../ui/problem";
import { csvOf, download } from "../../ui/list/csv";
import { listTexts } from "../../ui/texts";
import { id } from "../../ui/id";
import { outcomeOf } from "./outcome";
import { bulkTexts, pageTexts, stateText, texts } from "./texts";
import { of, type Sent } from "./types";

/** useBulk are the actions for selected notifications. `after` is called when one has changed some. */
export function useBulk(after: () => void): Bulk<Sent>[] {
  const t = useTexts(texts);
  const p = useTexts(pageTexts);
  const b = useTexts(bulkTexts);
  const l = useTexts(listTexts);
  const may = useCan()("notifications:send");
  const keys = useRef(new Map<string, string>()); // the same again is the same request
  const resend = async (n: Sent, unlikely: boolean) => {
    const at = `/notifications/${n.notification_id}/resend` as const;
    const all = (await get(at)).data;
    const recipients = all
      .filter((r) => !r.not && (!r.caution || (unlikely && r.caution === "hopeless")))
      .map((r) => r.n);
    if (recipients.length === 0) {
      const why = [
        ...new Set(all.map((r) => (p as Record<string, string>)[r.not ? "not_" + r.not : "caution_" + r.caution])),
      ];
      throw new Refused(why.join(" · ") || p.nobodyToResend);
    }
    const body = { recipients, reached: false };
    const same = n.notification_id + JSON.stringify(body);
    if (!keys.current.has(same)) keys.current.set(same, id());
    await send("post", at, { body, headers: { "Idempotency-Key": keys.current.get(same)! } });
  };
  const cancel = async (n: Sent) => {
    const { canceled, already_sent } = await post(`/notifications/${n.notification_id}/cancel`);
    if (canceled === 0) throw new Refused(fill(b.tooLate, { n: already_sent }));
  };
  const save = (rows: Sent[]) =>
    download(
      "messages.csv",
      csvOf(rows, {
        id: (n) => n.notification_id,
        accepted: (n) => n.created_at,
        status: (n) => stateText(t, outcomeOf(n)),
        template: (n) => n.name_template,
        language: (n) => n.language_template,
        campaign: (n) => n.campaign_name,
        sender: (n) => n.sender?.id ?? n.recipient_id,
        number: (n) => (n.total === 1 ? n.number || n.user_id || "" : ""),
        reason: (n) => n.reason,
        recipients: (n) => n.total,
        delivered: (n) => of(n, "delivered", "read", "completed"),
        read: (n) => of(n, "read"),
        failed: (n) => of(n, "failed"),
      }),
    );
  return [
    ...(may
      ? [
          {
            id: "resend",
            label: b.resend,
            icon: <IconRefresh size={15} />,
            fits: (n: Sent) => n.channel === "messaging" && of(n, "failed") > 0,
            ask: { title: b.resendTitle, text: b.resendText, action: b.resendDo, option: b.resendUnlikely },
            run: resend,
            after,
          },
          {
            id: "cancel",
            label: b.cancel,
            icon: <IconX size={15} />,
            danger: true,
            fits: (n: Sent) => of(n, "scheduled", "queued") > 0,
            ask: { title: b.cancelTitle, text: b.cancelText, action: b.cancelDo },
            run: cancel,
            after,
          },
        ]
      : []),
    { id: "export", label: l.exportCsv, icon: <IconDownload size={15} />, now: save },
  ];
}
