import { IconKeyboard, IconPhoneOutgoing, IconPlayerPlayFilled } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { Fragment, useEffect, useRef } from "react";
import { absolute } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Card } from "../../ui/parts";
import { Spoken, Times } from "../talk/Spoken";
import { texts as inboxTexts } from "../inbox/texts";
import { clock } from "./format";
import { pageTexts } from "./texts";
import { transferSteps } from "./Timeline";
import { underWay, type Call, type Said } from "./types";
import { playing } from "./wave";

/** Transcript is what was said. A turn of a recorded call is heard by a click; the one that is heard is marked. */
export function Transcript({
  call: c,
  at,
  seek,
}: {
  call: Call;
  at: number | undefined;
  seek?: (seconds: number) => void;
}) {
  const p = useTexts(pageTexts);
  const language = useLanguage();
  const times = useCan()("resources:write");
  const turns = c.turns.filter((x) => !x.note && (x.kind !== "event" || `event_${x.event}` in p));
  const spoken = turns.filter((x) => x.kind !== "event");
  const now = at === undefined ? undefined : spoken[playing(spoken, at)]?.seq;
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    if (now !== undefined) list.current?.querySelector("[data-now]")?.scrollIntoView({ block: "nearest" });
  }, [now]);
  const on = underWay(c.state);
  const put = (c.transfers ?? []).flatMap((x) => transferSteps(x, p));
  const between = (after: number, before: number) =>
    put
      .filter((s) => Date.parse(s.at!) >= after && Date.parse(s.at!) < before)
      .map((s) => (
        <li key={s.at + s.text} className="calls-event small muted">
          <IconPhoneOutgoing size={14} aria-hidden="true" />
          <span>{[s.text, s.more].filter(Boolean).join(" · ")}</span>
        </li>
      ));
  const saidAt = (i: number) => (i < turns.length ? Date.parse(turns[i]!.at) + 999 : Infinity); // turns have whole seconds
  return (
    <Card
      title={p.transcript}
      actions={
        on ? (
          <span className="calls-stream small" data-live="yes">
            <i aria-hidden="true" />
            {p.talking}
          </span>
        ) : undefined
      }
    >
      {turns.length === 0 ? (
        <p className="muted calls-none">{on ? p.noTurnsYet : p.noTurns}</p>
      ) : (
        <ol className="calls-turns" ref={list} aria-live={on ? "polite" : undefined}>
          {turns.map((x, i) => (
            <Fragment key={x.seq}>
              <Turn turn={x} call={c} now={x.seq === now} seek={seek} times={times} language={language} />
              {between(saidAt(i), saidAt(i + 1))}
            </Fragment>
          ))}
        </ol>
      )}
    </Card>
  );
}

function Turn({
  turn: x,
  call: c,
  now,
  seek,
  times,
  language,
}: {
  turn: Said;
  call: Call;
  now: boolean;
  seek?: (seconds: number) => void;
  times: boolean;
  language: string;
}) {
  const p = useTexts(pageTexts);
  const i = useTexts(inboxTexts);
  if (x.kind === "event") {
    const key =
      x.event === "handoff_requested" && x.run ? "event_handoff_flow" : (`event_${x.event}` as "event_joined");
    return (
      <li className="calls-event small muted">
        <span>{fill(p[key], { name: x.name || i.someone, text: x.text })}</span>
        {x.run && (
          <Link to="/flows/runs/$id" params={{ id: x.run }}>
            {i.seeRun}
          </Link>
        )}
      </li>
    );
  }
  const person = x.author === "visitor";
  const who = person ? c.name || p.you : x.name || i.agent;
  const offset = x.offset_ms === undefined ? undefined : x.offset_ms / 1000;
  const stamp =
    offset !== undefined
      ? clock(offset)
      : c.answered_at
        ? clock((Date.parse(x.at) - Date.parse(c.answered_at)) / 1000)
        : "";
  return (
    <li className="calls-turn" data-side={person ? "them" : "us"} data-now={now ? "yes" : undefined}>
      {seek && offset !== undefined ? (
        <button
          type="button"
          className="calls-stamp"
          aria-label={fill(p.listenFrom, { time: stamp })}
          aria-current={now ? "true" : undefined}
          onClick={() => seek(offset)}
        >
          <IconPlayerPlayFilled size={11} aria-hidden="true" />
          {stamp}
        </button>
      ) : (
        <time className="calls-stamp" dateTime={x.at} title={absolute(x.at, language)}>
          {stamp}
        </time>
      )}
      <div
        className="calls-said"
        onClick={
          seek && offset !== undefined
            ? () => {
                if (!document.getSelection()?.toString()) seek(offset);
              }
            : undefined
        }
      >
        <p className="calls-author">
          {who}
          {x.author === "agent" && <span className="muted"> · {i.agent}</span>}
        </p>
        <p className="calls-text">
          {x.voice && x.voice.cut ? <Spoken text={x.text} voice={x.voice} /> : x.text}
          {x.digits && (
            <span className="calls-digits" title={fill(p.pressed, { keys: x.digits })}>
              <IconKeyboard size={14} aria-hidden="true" />
              {fill(p.pressed, { keys: x.digits })}
            </span>
          )}
        </p>
        {x.choices && x.choices.length > 0 && (
          <ul className="calls-choices" aria-label={p.offers}>
            {x.choices.map((o, n) => (
              <li key={o}>
                <kbd>{n + 1}</kbd>
                {o}
              </li>
            ))}
          </ul>
        )}
      </div>
      {x.voice && times ? <Times voice={x.voice} language={language} /> : <span />}
    </li>
  );
}
