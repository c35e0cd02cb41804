import "./notifications.css";
import { addressee } from "../../ui/number";
import { IconSendOff } from "@tabler/icons-react";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useRef } from "react";
import { Problem } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Needs } from "../../shell/states";
import { Ago } from "../../ui/Ago";
import { Empty, Failed, Page, Rows, ToList } from "../../ui/parts";
import { Actions } from "./Actions";
import { AsShown, Asked, Whole } from "./Asked";
import { chosenOf, shownOf, type Chosen } from "./chosen";
import { MessageCard } from "./MessageCard";
import { pageTexts, texts } from "./texts";
import { Recipients } from "./Recipients";
import { Outcome } from "./State";
import type { SentPage } from "./types";
import { useOne } from "./useOne";

export function NotificationPage() {
  const { id } = useParams({ from: "/shell/notifications/$id" });
  return (
    <Needs permission="notifications:read">
      <Loaded key={id} id={id} />
    </Needs>
  );
}

function Loaded({ id }: { id: string }) {
  const p = useTexts(pageTexts);
  const one = useOne(id);
  if (one.data) return <Shown page={one.data} />;
  const gone = one.error instanceof Problem && one.error.status === 404;
  return (
    <Page title={p.notification} back={{ to: "/notifications", text: p.back }}>
      {gone ? (
        <Empty icon={<IconSendOff size={22} />} title={p.gone} text={p.goneText}>
          <ToList />
        </Empty>
      ) : one.isError ? (
        <Failed error={one.error} retry={() => void one.refetch()} />
      ) : (
        <Rows />
      )}
    </Page>
  );
}

function Shown({ page: n }: { page: SentPage }) {
  const t = useTexts(texts);
  const p = useTexts(pageTexts);
  const language = useLanguage();
  const navigate = useNavigate();
  const address = useSearch({ from: "/shell/notifications/$id" });
  const go = useCallback(
    (to: Chosen) =>
      void navigate({
        to: "/notifications/$id",
        params: { id: n.notification_id },
        replace: true,
        resetScroll: false,
        search: (now) => chosenOf({ ...now, ...to }),
      }),
    [navigate, n.notification_id],
  );
  const recipient = shownOf(n.recipients, address);
  const many = n.total > 1;
  const beside = useRef<HTMLDivElement>(null);
  const choose = (to: Chosen) => {
    go(to);
    const box = beside.current; // where it is below the list, it is shown
    if (to.m !== undefined && box && box.getBoundingClientRect().top > window.innerHeight * 0.6)
      box.scrollIntoView({ block: "start" });
  };
  return (
    <Page
      title={n.name_template || t.call}
      back={{ to: "/notifications", text: p.back }}
      actions={<Actions page={n} />}
      about={
        <span className="sent-head">
          <Outcome of={n} />
          <span>{n.total === 1 ? n.name || addressee(n) : fill(t.many, { n: number(n.total, language) })}</span>
          <span>{n.campaign_name}</span>
          <Ago at={n.created_at} />
        </span>
      }
    >
      <div className="sent-columns" data-many={many ? "yes" : undefined}>
        <div className="stack">
          {many ? (
            <Recipients page={n} address={address} shown={recipient} go={choose} />
          ) : (
            recipient && <MessageCard recipient={recipient} page={n} />
          )}
          {many && <Asked page={n} />}
          {many && <Whole page={n} />}
        </div>
        <div className="stack" ref={beside}>
          {many && recipient && <MessageCard recipient={recipient} page={n} />}
          {recipient && n.channel === "messaging" && <AsShown page={n} recipient={recipient} />}
          {!many && <Asked page={n} />}
          {!many && <Whole page={n} />}
        </div>
      </div>
    </Page>
  );
}
