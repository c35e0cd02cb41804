import "./calls.css";
import { phone } from "../../ui/number";
import { Button } from "@mantine/core";
import { IconCode, IconDownload, IconMessages, IconPhoneOff, IconX } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { address, get, post, Problem } from "../../api";
import { useLanguage, useTexts } from "../../i18n";
import { inbox as stream } from "../../live";
import { useCan, useCompany } from "../../session";
import { Needs } from "../../shell/states";
import type { Update } from "../talk/types";
import { confirm } from "../../ui/confirm";
import { Card, Empty, Failed, Page, Rows, ToList } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { ReviewShown } from "../reviews/Review";
import { reviewTexts } from "../reviews/texts";
import { base } from "../widgets/places";
import { clock, time } from "./format";
import { pageTexts, texts } from "./texts";
import { Player, type Playing } from "./Player";
import { Details, Results } from "./Side";
import { Answered, State } from "./State";
import { Ticking } from "./Ticking";
import { Timeline } from "./Timeline";
import { Transcript } from "./Transcript";
import { underWay, waits, type Call } from "./types";

export function CallPage() {
  const { id } = useParams({ from: "/shell/calls/$id" });
  return (
    <Needs permission="notifications:read">
      <Loaded key={id} id={id} />
    </Needs>
  );
}

const beat = 1500; // while a call is under way

/** useCall is a call as it goes on: its turns are events of its conversation, the rest is asked for. */
function useCall(id: string) {
  const company = useCompany();
  const client = useQueryClient();
  const one = useQuery({
    queryKey: [company.id, "calls", id],
    queryFn: ({ signal }) => get(`/calls/${encodeURIComponent(id)}`, {}, signal),
    refetchInterval: (q) =>
      !q.state.data
        ? false
        : underWay(q.state.data.state)
          ? beat
          : waits(q.state.data.state)
            ? 5000
            : q.state.data.answered_at &&
                !q.state.data.has_recording &&
                !q.state.data.no_recording &&
                recent(q.state.data.ended_at)
              ? beat
              : false,
  });
  const conversation = one.data?.conversation_id;
  useEffect(() => {
    if (!conversation) return;
    return stream.seen((e) => {
      if (
        e.event === "reset" ||
        (e.event === "conversation.updated" && (e.data as Update).conversation.id === conversation)
      )
        void client.invalidateQueries({ queryKey: [company.id, "calls", id] });
    });
  }, [conversation, client, company.id, id]);
  return one;
}

/** recent reports whether a call has just ended: its recording may still be stored. */
function recent(at: string | undefined): boolean {
  return !!at && Date.now() - Date.parse(at) < 15_000;
}

function Loaded({ id }: { id: string }) {
  const p = useTexts(pageTexts);
  const t = useTexts(texts);
  const one = useCall(id);
  if (one.data) return <Shown call={one.data} />;
  const gone = one.error instanceof Problem && one.error.status === 404;
  return (
    <Page title={p.call} back={{ to: "/calls", text: t.title }}>
      {gone ? (
        <Empty icon={<IconPhoneOff size={22} />} title={p.gone} text={p.goneText}>
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

function Shown({ call: c }: { call: Call }) {
  const t = useTexts(texts);
  const p = useTexts(pageTexts);
  const r = useTexts(reviewTexts);
  const language = useLanguage();
  const player = useRef<Playing>(null);
  const [at, setAt] = useState<number | undefined>(undefined);
  const name = c.name || phone(c.number) || t.hidden;
  return (
    <Page
      title={name}
      back={{ to: "/calls", text: t.title, search: c.direction === "incoming" ? { direction: "incoming" } : undefined }}
      actions={<Actions call={c} />}
      about={
        <span className="calls-head">
          <State state={c.state} />
          {c.direction === "incoming" && <span>{t.incoming}</span>}
          {c.name && <span>{phone(c.number)}</span>}
          {underWay(c.state) && c.answered_at ? (
            <Ticking since={c.answered_at} />
          ) : c.duration_s !== undefined ? (
            <span>{clock(c.duration_s)}</span>
          ) : null}
          <Answered by={c.answered_by} />
          <time dateTime={c.dialed_at || c.created_at}>{time(c.dialed_at || c.created_at, language)}</time>
        </span>
      }
    >
      <div className="calls-columns">
        <div className="stack">
          {c.has_recording && (
            <Card title={p.recording} actions={<span className="small muted calls-keys">{p.keys}</span>}>
              <Player ref={player} call={c} onTime={setAt} />
            </Card>
          )}
          <Transcript call={c} at={at} seek={c.has_recording ? (s) => player.current?.play(s) : undefined} />
        </div>
        <div className="stack">
          {c.review && (
            <Card title={r.title}>
              <ReviewShown review={c.review} withoutResult />
            </Card>
          )}
          <Results call={c} />
          <Timeline call={c} />
          <Details call={c} />
        </div>
      </div>
    </Page>
  );
}

/** Actions are what can be done with a call. */
function Actions({ call: c }: { call: Call }) {
  const p = useTexts(pageTexts);
  const can = useCan();
  const company = useCompany();
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const on = underWay(c.state);
  const end = async () => {
    if (
      !(await confirm(
        on
          ? { title: p.hangUpTitle, text: p.hangUpText, action: p.hangUp, danger: true }
          : { title: p.cancelTitle, text: p.cancelText, action: p.cancel, danger: true, cancel: p.back },
      ))
    )
      return;
    setBusy(true);
    try {
      const r = await post(`/calls/${c.call_id}/hangup`);
      succeeded(r.hung_up ? p.hungUp : p.wasCanceled);
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
      void client.invalidateQueries({ queryKey: [company.id, "calls", c.call_id] });
    }
  };
  const copy = () => {
    void navigator.clipboard
      .writeText(`curl '${base}/functions/v1/calls/${c.call_id}?access_key=ACCESS_KEY'`)
      .then(() => succeeded(p.curlCopied), failed);
  };
  return (
    <>
      {c.conversation_id && can("conversations:read") && (
        <Button
          className="calls-act"
          variant="default"
          leftSection={<IconMessages size={16} />}
          renderRoot={(props) => <Link to="/inbox" search={{ folder: "all", c: c.conversation_id }} {...props} />}
        >
          {p.conversation}
        </Button>
      )}
      <Button className="calls-act" variant="default" leftSection={<IconCode size={16} />} onClick={copy}>
        {p.curl}
      </Button>
      {c.has_recording && (
        <Button
          variant="default"
          component="a"
          href={address(`/calls/${c.call_id}/recording`)}
          download
          leftSection={<IconDownload size={16} />}
        >
          {p.download}
        </Button>
      )}
      {(on || waits(c.state)) && can("notifications:send") && (
        <Button
          color="red"
          variant={on ? "filled" : "light"}
          loading={busy}
          leftSection={on ? <IconPhoneOff size={16} /> : <IconX size={16} />}
          onClick={() => void end()}
        >
          {on ? p.hangUp : p.cancel}
        </Button>
      )}
    </>
  );
}
