import "./notifications.css";
import { Button } from "@mantine/core";
import { IconArrowUp, IconSend, IconSendOff } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useRef } from "react";
import { fill, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { Card, Empty, Failed, Page, Rows } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { useList } from "../../ui/resources";
import { shared } from "../../ui/texts";
import { addressOf, narrowed, nothing, type Address } from "./address";
import { Filters } from "./Filters";
import { Find } from "./Find";
import { Row } from "./Row";
import { texts } from "./texts";
import { useKeys } from "./useKeys";
import { useLive, useSent } from "./useSent";

export function NotificationsPage() {
  return (
    <Needs permission="notifications:read">
      <Notifications />
    </Needs>
  );
}

function Notifications() {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const address = addressOf(useSearch({ strict: false }));
  const live = useLive();
  const go = useCallback(
    (to: Partial<Address>) =>
      void navigate({
        to: "/notifications",
        replace: true,
        search: (now: Record<string, unknown>) => ({ ...now, ...to }),
      }),
    [navigate],
  );
  return (
    <Page
      title={t.title}
      about={t.about}
      actions={
        <span className="sent-stream" role="status" data-live={live ? "yes" : "no"}>
          <i aria-hidden="true" />
          {live ? t.live : t.offline}
        </span>
      }
    >
      <Find />
      <Filters address={address} go={go} />
      <List address={address} clear={() => go(nothing)} />
    </Page>
  );
}

/** List is the notifications. While the pointer or the keyboard is in it, nothing moves: new ones wait behind a button, which belongs to it. */
function List({ address, clear }: { address: Address; clear: () => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const agents = useList("agents");
  const agent = useCallback(
    (id: string | undefined) => agents.data?.find((a) => a.id === id)?.name ?? t.call,
    [agents.data, t],
  );
  const whole = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const read = useRef(false);
  const still = useCallback(
    () => read.current || !!whole.current?.contains(document.activeElement) || window.scrollY > 120,
    [],
  );
  const list = useSent(address, still);
  const { rows, fresh, cursor } = list.shown;
  useKeys(box);
  if (list.phase === "loading") return <Rows n={8} />;
  if (list.phase === "failed")
    return (
      <Card flush label={t.title}>
        <Failed error={list.error} retry={list.retry} />
      </Card>
    );
  const older = () => void list.older().catch(failed);
  if (rows.length === 0) {
    if (!narrowed(address)) return <First />;
    return (
      <Card flush label={t.title}>
        {cursor ? (
          <Empty icon={<IconSendOff size={22} />} title={t.noneYet} text={t.noneYetText}>
            <Button loading={list.more} onClick={older}>
              {t.searchOn}
            </Button>
          </Empty>
        ) : (
          <Empty icon={<IconSendOff size={22} />} title={t.noneFound} text={t.noneFoundText}>
            <Button variant="default" onClick={clear}>
              {t.clear}
            </Button>
          </Empty>
        )}
      </Card>
    );
  }
  return (
    <div
      ref={whole}
      onPointerEnter={(e) => {
        if (e.pointerType === "mouse") read.current = true;
      }}
      onPointerLeave={() => {
        read.current = false;
      }}
    >
      {fresh.length > 0 && (
        <div className="sent-fresh">
          <Button
            size="xs"
            radius="xl"
            leftSection={<IconArrowUp size={14} />}
            onClick={() => {
              list.reveal();
              window.scrollTo({ top: 0 });
            }}
          >
            {fresh.length === 1 ? t.newOne : fill(t.newMany, { n: list.shown.gap ? fresh.length + "+" : fresh.length })}
          </Button>
        </div>
      )}
      <Card flush label={t.title}>
        <div ref={box} className="table-wrap">
          <table className="table sent-table sent-list">
            <thead>
              <tr>
                <th>{t.state}</th>
                <th>{t.what}</th>
                <th className="wide-only">{t.recipients}</th>
                <th>{t.result}</th>
                <th className="wide-only sent-roomy">{t.sender}</th>
                <th className="wide-only">{t.when}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((n) => (
                <Row key={n.notification_id} sent={n} agent={agent} />
              ))}
            </tbody>
          </table>
        </div>
      </Card>
      {cursor && (
        <div className="sent-older">
          {narrowed(address) && rows.length % 50 !== 0 && <p className="small muted">{t.lookedOn}</p>}
          <Button variant="default" loading={list.more} onClick={older}>
            {narrowed(address) ? t.searchOn : s.more}
          </Button>
        </div>
      )}
    </div>
  );
}

/** First says what appears here, where nothing has been sent yet. */
function First() {
  const t = useTexts(texts);
  const can = useCan();
  return (
    <Card flush label={t.title}>
      <Empty icon={<IconSend size={22} />} title={t.first} text={t.firstText}>
        {can("notifications:send") && (
          <Button renderRoot={(props) => <Link to="/send" {...props} />} leftSection={<IconSend size={16} />}>
            {t.send}
          </Button>
        )}
      </Empty>
    </Card>
  );
}
