import { Told } from "../../ui/Told";
import { Skeleton } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheck, IconInfoCircle } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { fill, useLanguage, useTexts } from "../../i18n";
import { number, percent } from "../../format";
import { Ago } from "../../ui/Ago";
import { Card, Failed } from "../../ui/parts";
import { attentionTexts } from "./texts";
import { clock, duration } from "./format";
import type { Concern } from "./types";
import { useAttention } from "./useOverview";

/** Attention is what somebody should look after, each with the next step; or that there is nothing. */
export function Attention() {
  const t = useTexts(attentionTexts);
  const all = useAttention();
  const some = all.data?.data ?? [];
  return (
    <Card title={t.title} flush>
      {all.isPending ? (
        <div className="body">
          <Skeleton height={20} width="40%" />
        </div>
      ) : all.isError && !all.data ? (
        <Failed error={all.error} retry={() => void all.refetch()} />
      ) : some.length === 0 ? (
        <p className="concern-none">
          <IconCircleCheck size={18} aria-hidden="true" />
          {t.nothing}
        </p>
      ) : (
        <ul className="concerns">
          {some.map((c) => (
            <Row key={c.kind + (c.sender ?? "") + (c.id ?? "")} concern={c} />
          ))}
        </ul>
      )}
    </Card>
  );
}

const urgent: Concern["kind"][] = [
  "maintenance",
  "restored",
  "sender_failing",
  "messages_failing",
  "calls_failing",
  "webhook_failing",
  "webhook_disabled",
];

function Row({ concern: c }: { concern: Concern }) {
  const t = useTexts(attentionTexts);
  const { title, next, link } = useSaid(c);
  const serious =
    urgent.includes(c.kind) || (c.kind === "quota" && (c.used ?? 0) >= (c.of ?? 0)) || c.status === "disabled";
  return (
    <li className="concern" data-tone={serious ? "danger" : "warn"}>
      {serious ? <IconAlertTriangle size={18} aria-hidden="true" /> : <IconInfoCircle size={18} aria-hidden="true" />}
      <div>
        <p>
          <b>{title}</b>
          {c.since && (
            <span className="small muted">
              {" "}
              · <Ago at={c.since} />
            </span>
          )}
        </p>
        <p className="muted">{next}</p>
        {c.detail && (
          <p className="small muted concern-words">
            {c.host ? t.lastAttempt : t.words}{" "}
            <q>
              <Told text={c.detail} />
            </q>
          </p>
        )}
      </div>
      {link && (
        <Link className="concern-go" to={link.to} search={link.search ?? {}}>
          {link.text}
        </Link>
      )}
    </li>
  );
}

interface Said {
  title: string;
  next: string;
  link?: { to: string; text: string; search?: Record<string, string> };
}

/** useSaid says a concern in plain words, and what to do about it. */
function useSaid(c: Concern): Said {
  const t = useTexts(attentionTexts);
  const language = useLanguage();
  const name = c.sender ?? "";
  const share = percent(c.used ?? 0, c.of ?? 0, language);
  switch (c.kind) {
    case "maintenance":
      return { title: t.maintenance, next: fill(t.maintenanceNext, { time: clock(c.until!, language) }) };
    case "restored":
      return { title: t.restored, next: t.restoredNext };
    case "sender_failing": {
      const again = c.until ? fill(t.again, { time: clock(c.until, language) }) : t.againNow;
      const why = (t as Record<string, string>)["fault_" + c.class] ?? t.fault;
      return {
        title: fill(c.channel === "voice" ? t.lineFailing : t.senderFailing, { name }),
        next: `${why} ${again}`,
        link:
          c.channel === "voice"
            ? { to: "/lines/" + encodeURIComponent(name), text: t.toLine }
            : { to: "/senders/" + encodeURIComponent(name), text: t.toSender },
      };
    }
    case "quota": {
      const full = (c.used ?? 0) >= (c.of ?? 0);
      return {
        title: fill(full ? t.quotaFull : t.quota, { share }),
        next: fill(full ? t.quotaFullNext : t.quotaNext, {
          n: number(Math.max(0, (c.of ?? 0) - (c.used ?? 0)), language),
          time: clock(c.reset_time!, language),
        }),
        link: { to: "/usage", text: t.toUsage },
      };
    }
    case "conversations_waiting":
      return {
        title: fill(c.count === 1 ? t.waitingOne : t.waiting, { n: number(c.count ?? 0, language) }),
        next: t.waitingNext,
        link: { to: "/inbox", text: t.toInbox },
      };
    case "messages_failing":
      return {
        title: fill(t.messages, { share, name }),
        next: t.messagesNext,
        link: { to: "/notifications", text: t.toNotifications, search: { sender: name } },
      };
    case "calls_failing":
      return {
        title: fill(t.calls, { share, name }),
        next: t.callsNext,
        link: { to: "/calls", text: t.toCalls, search: { line: name } },
      };
    case "template":
      return {
        title: fill((t as Record<string, string>)["template_" + c.status] ?? t.template_paused, {
          name: c.template ?? "",
          language: c.language ?? "",
        }),
        next: (t as Record<string, string>)["next_" + c.status] ?? "",
        link: { to: "/templates/" + encodeURIComponent(c.id ?? ""), text: t.toTemplate },
      };
    case "webhook_failing":
      return {
        title: fill(t.webhook, { name: c.host ?? "" }),
        next: t.webhookNext,
        link: { to: "/webhooks/" + (c.id ?? ""), text: t.toWebhook },
      };
    case "webhook_disabled":
      return {
        title: fill(t.webhookOff, { name: c.host ?? "" }),
        next: c.status === "gone" ? t.webhookGone : t.webhookOffNext,
        link: { to: "/webhooks/" + (c.id ?? ""), text: t.toWebhook },
      };
    case "search_behind":
      return { title: fill(t.search, { time: duration((c.behind_s ?? 0) * 1000, language) }), next: t.searchNext };
    case "counts_behind":
      return { title: fill(t.counts, { time: duration((c.behind_s ?? 0) * 1000, language) }), next: t.countsNext };
  }
}
