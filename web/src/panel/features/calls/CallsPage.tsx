import "./calls.css";
import { Button, Tabs } from "@mantine/core";
import { IconArrowUp, IconPhoneIncoming, IconPhoneOff } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useRef } from "react";
import { fill, useTexts } from "../../i18n";
import { Needs } from "../../shell/states";
import { Card, Empty, Failed, Page, Rows } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { addressOf, narrowed, type Address } from "./address";
import { Filters } from "./Filters";
import { FirstCall } from "./FirstCall";
import { useNames } from "./names";
import { Row } from "./Row";
import { texts } from "./texts";
import { useCalls, useLive } from "./useCalls";

export function CallsPage() {
  return (
    <Needs permission="notifications:read">
      <Calls />
    </Needs>
  );
}

function Calls() {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const address = addressOf(useSearch({ strict: false }));
  const live = useLive();
  const go = useCallback(
    (to: Partial<Address>) =>
      void navigate({ to: "/calls", replace: true, search: (now: Record<string, unknown>) => ({ ...now, ...to }) }),
    [navigate],
  );
  return (
    <Page
      title={t.title}
      about={t.about}
      actions={
        <span className="calls-stream" role="status" data-live={live ? "yes" : "no"}>
          <i aria-hidden="true" />
          {live ? t.live : t.offline}
        </span>
      }
    >
      <Tabs
        value={address.direction ?? "outgoing"}
        onChange={(v) =>
          go({ direction: v === "incoming" ? "incoming" : undefined, state: undefined, campaign: undefined })
        }
      >
        <Tabs.List mb={16} aria-label={t.directions}>
          <Tabs.Tab value="outgoing">{t.outgoing}</Tabs.Tab>
          <Tabs.Tab value="incoming">{t.incoming}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value={address.direction ?? "outgoing"}>
          <Filters address={address} go={go} />
          <List
            key={address.direction}
            address={address}
            clear={() =>
              go({ state: undefined, agent: undefined, line: undefined, number: undefined, campaign: undefined })
            }
          />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

/** Nobody says how people reach an agent by telephone, where nobody has yet. */
function Nobody() {
  const t = useTexts(texts);
  return (
    <Card flush label={t.title}>
      <Empty icon={<IconPhoneIncoming size={22} />} title={t.nobody} text={t.nobodyText}>
        <Button variant="default" component={Link} to="/lines">
          {t.toLines}
        </Button>
      </Empty>
    </Card>
  );
}

/** List is the calls. While the pointer or the keyboard is in it, nothing moves: new calls wait behind a button, which belongs to it. */
function List({ address, clear }: { address: Address; clear: () => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const names = useNames();
  const box = useRef<HTMLDivElement>(null);
  const read = useRef(false);
  const still = useCallback(
    () => read.current || !!box.current?.contains(document.activeElement) || window.scrollY > 120,
    [],
  );
  const list = useCalls(address, still);
  const { rows, fresh, cursor } = list.shown;
  const incoming = address.direction === "incoming";
  if (list.phase === "loading") return <Rows n={8} />;
  if (list.phase === "failed")
    return (
      <Card flush label={t.title}>
        <Failed error={list.error} retry={list.retry} />
      </Card>
    );
  const older = () => void list.older().catch(failed);
  if (rows.length === 0) {
    if (!narrowed(address)) return incoming ? <Nobody /> : <FirstCall />;
    return (
      <Card flush label={t.title}>
        {cursor ? (
          <Empty icon={<IconPhoneOff size={22} />} title={t.noneYet} text={t.noneYetText}>
            <Button loading={list.more} onClick={older}>
              {t.searchOn}
            </Button>
          </Empty>
        ) : (
          <Empty icon={<IconPhoneOff size={22} />} title={t.noneFound} text={t.noneFoundText}>
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
      ref={box}
      onPointerEnter={(e) => {
        if (e.pointerType === "mouse") read.current = true;
      }}
      onPointerLeave={() => {
        read.current = false;
      }}
    >
      {fresh.length > 0 && (
        <div className="calls-fresh">
          <Button
            size="xs"
            radius="xl"
            leftSection={<IconArrowUp size={14} />}
            onClick={() => {
              list.reveal();
              window.scrollTo({ top: 0 });
            }}
          >
            {fresh.length === 1 ? t.newOne : fill(t.newMany, { n: fresh.length })}
          </Button>
        </div>
      )}
      <Card flush label={t.title}>
        <div className="table-wrap">
          <table className="table calls-table">
            <thead>
              <tr>
                <th>{t.state}</th>
                <th>{t.contact}</th>
                <th className="wide-only">{t.agent}</th>
                {!incoming && <th className="wide-only calls-roomy">{t.campaign}</th>}
                <th className="wide-only">{t.when}</th>
                <th>{t.duration}</th>
                <th className="wide-only">{t.result}</th>
                <th className="wide-only">
                  <span className="hidden">{t.recording}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((c) => (
                <Row key={c.call_id} call={c} names={names} />
              ))}
            </tbody>
          </table>
        </div>
      </Card>
      {cursor && (
        <div className="calls-older">
          <Button variant="default" loading={list.more} onClick={older}>
            {s.more}
          </Button>
        </div>
      )}
    </div>
  );
}
