import { phone } from "../../ui/number";
import { Button } from "@mantine/core";
import { IconExternalLink, IconRefresh } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { get } from "../../api";
import { fill, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import type { Agent } from "./types";
import type { VoiceLine } from "../lines/types";
import { Note } from "../../ui/parts";
import { State } from "../calls/State";
import { underWay, waits, type CallState } from "../calls/types";
import { Heard } from "../sandbox/PhoneCalls";
import { PhoneForm } from "../sandbox/PhoneForm";
import { usePhone } from "../sandbox/usePhone";
import { callTexts } from "./texts";

const open = (s: CallState): boolean => underWay(s) || waits(s);

/** PhoneTest has the agent, as it is stored, call the sandbox's phone, and shows what was said and found out. */
export default function PhoneTest({ agent, changed, lines }: { agent: Agent; changed: boolean; lines: VoiceLine[] }) {
  const t = useTexts(callTexts);
  const [called, setCalled] = useState<{ call_id: string; number: string }>();
  if (agent.engine === "elevenlabs")
    return (
      <div className="talk-test">
        <Note>{t.elsewhere}</Note>
      </div>
    );
  return (
    <div className="talk-test">
      <p className="small muted">
        {t.phoneHelp}
        {changed && (
          <>
            {" "}
            <b>{t.unsaved}</b>
          </>
        )}
      </p>
      {called ? (
        <Followed key={called.call_id} called={called} agent={agent} again={() => setCalled(undefined)} />
      ) : (
        <div className="phone-form">
          <PhoneForm lines={lines} agents={[agent]} called={setCalled} />
        </div>
      )}
    </div>
  );
}

function Followed({
  called,
  agent,
  again,
}: {
  called: { call_id: string; number: string };
  agent: Agent;
  again: () => void;
}) {
  const t = useTexts(callTexts);
  const company = useCompany();
  const call = useQuery({
    queryKey: [company.id, "tried call", called.call_id],
    queryFn: ({ signal }) => get(`/calls/${called.call_id}`, {}, signal),
    refetchInterval: (q) => (q.state.data && !open(q.state.data.state) ? false : 700),
  });
  const got = usePhone().data?.data.find((c) => c.call_id === called.call_id);
  const log = useRef<HTMLDivElement>(null);
  const turns = call.data?.turns.filter((x) => (x.author === "agent" || x.author === "visitor") && x.text) ?? [];
  useEffect(() => {
    log.current?.scrollTo({ top: log.current.scrollHeight });
  }, [turns.length]);
  const over = call.data && (!open(call.data.state) || (call.data.state === "queued" && !!got?.ended_at)); // queued again: it is redialed
  const found = Object.entries(call.data?.result ?? {});
  const show = (v: unknown) => (v === true ? t.yes : v === false ? t.no : String(v));
  return (
    <>
      <div className="talk-line phone-line">
        <b>{phone(called.number)}</b>
        {call.data ? (
          <State state={call.data.state} />
        ) : (
          <span className="muted" role="status">
            {t.waiting}
          </span>
        )}
      </div>
      <div className="log" ref={log} role="log" aria-label={t.said} tabIndex={0}>
        {turns.map((x) => (
          <div key={x.seq} className={x.author === "visitor" ? "said me" : "said"}>
            <span className="hidden">{x.author === "visitor" ? t.callee : t.agent}: </span>
            {x.text}
            {x.digits && <> ({fill(t.keys, { keys: x.digits })})</>}
          </div>
        ))}
        {over && agent.result.length > 0 && (
          <div className="phone-found">
            <b>{t.found}</b>
            {found.length === 0 ? (
              <div className="muted">{t.nothing}</div>
            ) : (
              <dl>
                {found.map(([name, v]) => (
                  <div key={name}>
                    <dt className="mono">{name}</dt>
                    <dd>{show(v)}</dd>
                  </div>
                ))}
              </dl>
            )}
          </div>
        )}
        {over && got && got.heard_ms > 0 && <Heard call={got} />}
      </div>
      <div className="talk-start">
        <Button variant="default" leftSection={<IconRefresh size={15} />} disabled={!over} onClick={again}>
          {t.again}
        </Button>
        <Button
          variant="subtle"
          component={Link}
          to={`/calls/${called.call_id}`}
          rightSection={<IconExternalLink size={14} />}
        >
          {t.open}
        </Button>
      </div>
    </>
  );
}
