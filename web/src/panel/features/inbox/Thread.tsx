import { ActionIcon, Button, Loader, Menu, Tooltip } from "@mantine/core";
import {
  IconArrowBackUp,
  IconArrowLeft,
  IconCheck,
  IconDots,
  IconLayoutSidebarRight,
  IconMicrophone,
  IconPhone,
  IconRefresh,
  IconUserPlus,
} from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { Fragment, useLayoutEffect, useRef, type RefObject, type ReactNode } from "react";
import { Composer } from "./Composer";
import { absolute } from "../../format";
import { clock, day, path } from "./format";
import { Enclosed, From, inPlace } from "./Enclosed";
import { Happened } from "./Happened";
import { enclosedTexts, type InboxTexts } from "./texts";
import { isGroup, nameOf, present, seenTurn, waits, whoOver } from "./model";
import type { Loaded, Snapshot, Unsent } from "./snapshot";
import type { Inbox } from "./store";
import { fill, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { onTheLine, useCall } from "../talk/current";
import { Spoken, Times } from "../talk/Spoken";
import { texts as talkTexts } from "../talk/texts";
import { useFollow } from "../../ui/follow";
import { MediaFile } from "../../ui/MediaFile";
import { ChannelMark, Template, Tick } from "./Messages";
import type { Delivery, Turn } from "./types";
import { Why } from "./Why";
import type { Act } from "./acts";

export type Mode = "reply" | "note";

interface Props {
  inbox: Inbox;
  state: Snapshot;
  t: InboxTexts;
  language: string;
  mayAnswer: boolean;
  act: Act;
  back(): void;
  details: boolean;
  setDetails(on: boolean): void;
  speak(): void;
  times: boolean;
  composer: RefObject<{ focus(mode: Mode): void } | null>;
  toast(message: ReactNode, problem?: boolean): void;
}

export function Thread(p: Props) {
  const { inbox, state, t } = p;
  if (!state.id) {
    return (
      <section className="inbox-thread inbox-none" aria-label={t.choose}>
        <b>{t.choose}</b>
        <span>{t.chooseHint}</span>
      </section>
    );
  }
  if (!state.thread) {
    return (
      <section className="inbox-thread inbox-none" aria-busy={state.threadPhase === "loading"}>
        {state.threadPhase === "failed" ? (
          <>
            <b>{t.threadFailed}</b>
            <Button variant="default" size="xs" onClick={() => void inbox.reloadThread()}>
              {t.retry}
            </Button>
            <Button variant="subtle" size="xs" onClick={p.back}>
              {t.back}
            </Button>
          </>
        ) : (
          <Loader size="sm" aria-label={t.loading} />
        )}
      </section>
    );
  }
  return <Open {...p} thread={state.thread} />;
}

function Open({
  inbox,
  state,
  thread,
  t,
  language,
  mayAnswer,
  act,
  back,
  details,
  setDetails,
  composer,
  toast,
  speak,
  times,
}: Props & { thread: Loaded }) {
  const c = thread.conversation;
  const group = isGroup(thread.contact);
  const e = useTexts(enclosedTexts);
  const name = nameOf(thread.contact, thread.contact.id, group ? e.group : t.visitor);
  const mine = c.assignee === inbox.me;
  const assignee = state.teammates.find((x) => x.account_id === c.assignee);
  const call = useCall();
  const v = useTexts(talkTexts);
  const line = onTheLine(c);
  const others = present(state.marks, c.id, "viewing", inbox.me, Date.now());
  const replies = (waits(c) || (mine && c.last_author !== "teammate")) && !group;
  const can = useCan();
  return (
    <section className="inbox-thread" aria-label={name}>
      <header className="inbox-thread-head">
        <ActionIcon className="inbox-back" variant="subtle" color="gray" aria-label={t.back} onClick={back}>
          <IconArrowLeft size={18} />
        </ActionIcon>
        <div className="inbox-title">
          <h2>{name}</h2>
          <p>
            {!(group && c.state === "bot") && (
              <span
                className="inbox-chip"
                data-color={
                  c.state === "queued"
                    ? "warn"
                    : c.state === "missed" || c.state === "abandoned"
                      ? "danger"
                      : c.state === "active"
                        ? "ok"
                        : "quiet"
                }
              >
                {t[c.state]}
              </span>
            )}
            {c.state !== "resolved" && (c.assignee || c.state !== "queued") && (
              <span>{c.assignee ? (mine ? t.you : (assignee?.name ?? t.someone)) : t.nobody}</span>
            )}
            {c.channel === "web_voice" && (
              <span className="inbox-voice" data-on={line ? "yes" : "no"}>
                <IconMicrophone size={13} aria-hidden />
                {line ? v.onLine : v.voice}
              </span>
            )}
            {c.channel === "whatsapp" && (
              <ChannelMark who={whoOver(thread) === name ? undefined : whoOver(thread)} group={group} />
            )}
            {c.page && (
              <span className="inbox-page" title={c.page}>
                {path(c.page)}
              </span>
            )}
          </p>
        </div>
        {mayAnswer && (
          <>
            {line && call?.id !== c.id && (
              <Tooltip label="V">
                <Button
                  size="xs"
                  color="green"
                  aria-label={c.state === "queued" || mine ? v.answerVoice : v.takeOver}
                  leftSection={<IconPhone size={15} />}
                  className="inbox-speak"
                  disabled={!!call}
                  onClick={speak}
                >
                  <span className="inbox-word">{c.state === "queued" || mine ? v.answerVoice : v.takeOver}</span>
                </Button>
              </Tooltip>
            )}
            {c.state !== "resolved" && !group && !(mine && c.state === "active") && (
              <Tooltip label="A">
                <Button
                  size="xs"
                  variant="default"
                  className="inbox-do"
                  aria-label={`${c.assignee || c.state === "bot" ? t.takeOver : t.take}: ${name}`}
                  onClick={() => void act("take", { from: c.assignee ?? "" })}
                >
                  {c.assignee || c.state === "bot" ? t.takeOver : t.take}
                </Button>
              </Tooltip>
            )}
            {c.state === "resolved" ? (
              <Tooltip label="E">
                <Button
                  size="xs"
                  variant="default"
                  className="inbox-do"
                  leftSection={<IconRefresh size={15} />}
                  aria-label={`${t.reopen}: ${name}`}
                  onClick={() => void act("reopen")}
                >
                  {t.reopen}
                </Button>
              </Tooltip>
            ) : (
              <>
                {replies && (
                  <Tooltip label="R">
                    <Button
                      size="xs"
                      className="inbox-do inbox-reply"
                      leftSection={<IconArrowBackUp size={15} />}
                      aria-label={`${t.toReply}: ${name}`}
                      onClick={() => composer.current?.focus("reply")}
                    >
                      <span className="inbox-word">{t.toReply}</span>
                    </Button>
                  </Tooltip>
                )}
                <Tooltip label="E">
                  <Button
                    size="xs"
                    variant={replies ? "default" : "filled"}
                    className="inbox-do inbox-resolve"
                    leftSection={<IconCheck size={15} />}
                    aria-label={`${t.resolve}: ${name}`}
                    onClick={() => void act("resolve")}
                  >
                    <span className="inbox-word">{t.resolve}</span>
                  </Button>
                </Tooltip>
              </>
            )}
            {c.state !== "resolved" && (
              <Menu position="bottom-end" width={240}>
                <Menu.Target>
                  <ActionIcon variant="subtle" color="gray" aria-label={`${t.actions}: ${name}`}>
                    <IconDots size={18} />
                  </ActionIcon>
                </Menu.Target>
                <Menu.Dropdown>
                  {c.assignee && <Menu.Item onClick={() => void act("release", { to: "queue" })}>{t.queue}</Menu.Item>}
                  {c.agent_id && c.state !== "bot" && (
                    <Menu.Item onClick={() => void act("release", { to: "agent" })}>{t.toAgent}</Menu.Item>
                  )}
                  <Menu.Label>{t.assignTo}</Menu.Label>
                  {state.teammates
                    .filter((x) => x.account_id !== c.assignee)
                    .map((x) => (
                      <Menu.Item
                        key={x.account_id}
                        leftSection={<IconUserPlus size={15} />}
                        rightSection={<i className="inbox-dot" data-away={!x.present || x.away ? "yes" : "no"} />}
                        onClick={() => void act("assign", { account_id: x.account_id })}
                      >
                        {x.account_id === inbox.me ? t.me : x.name}
                      </Menu.Item>
                    ))}
                </Menu.Dropdown>
              </Menu>
            )}
          </>
        )}
        <Tooltip label="I">
          <ActionIcon
            variant={details ? "light" : "subtle"}
            color="gray"
            aria-label={details ? t.hideDetails : t.details}
            aria-pressed={details}
            onClick={() => setDetails(!details)}
          >
            <IconLayoutSidebarRight size={18} />
          </ActionIcon>
        </Tooltip>
      </header>
      {others.length > 0 && (
        <p className="inbox-banner" role="status">
          {others.length === 1
            ? fill(t.viewing, { name: others[0]!.name || t.someone })
            : fill(t.viewingMany, { n: others.length })}
        </p>
      )}
      {c.unanswered && (
        <p className="inbox-banner inbox-unanswered">
          <span>{fill(t.leftOpen, { question: c.unanswered })}</span>
          {can("resources:write") && (
            <Link to="/knowledge" search={{ tab: "questions" }}>
              {t.answerInKnowledge}
            </Link>
          )}
        </p>
      )}
      <Log
        inbox={inbox}
        state={state}
        thread={thread}
        t={t}
        language={language}
        name={name}
        times={times}
        caption={call?.id === c.id ? call.caption : ""}
      />
      {mayAnswer ? (
        <Composer key={c.id} ref={composer} inbox={inbox} state={state} thread={thread} t={t} act={act} toast={toast} />
      ) : (
        <p className="inbox-readonly">{t.noAnswer}</p>
      )}
    </section>
  );
}

interface LogProps {
  inbox: Inbox;
  state: Snapshot;
  thread: Loaded;
  t: InboxTexts;
  language: string;
  name: string;
  times: boolean;
  caption: string;
}

function Log({ inbox, state, thread, t, language, name, times, caption }: LogProps) {
  const box = useRef<HTMLDivElement>(null);
  const { atEnd, scrolled } = useFollow(box);
  const first = useRef<number | undefined>(undefined);
  const height = useRef(0);
  const writing = present(state.marks, thread.conversation.id, "typing", inbox.me, Date.now());
  useLayoutEffect(() => {
    // the newest stays in view, and so does what was read when older turns come above
    const el = box.current;
    if (!el) return;
    const top = thread.turns[0]?.seq;
    if (first.current !== undefined && top !== undefined && top < first.current)
      el.scrollTop += el.scrollHeight - height.current;
    else if (atEnd.current) el.scrollTop = el.scrollHeight;
    first.current = top;
    height.current = el.scrollHeight;
  });
  const seen = seenTurn(thread.turns, thread.conversation.seen_seq);
  let before: Turn | undefined;
  return (
    <div ref={box} className="inbox-log" role="log" aria-label={name} tabIndex={0} onScroll={scrolled}>
      {thread.more && (
        <Button className="inbox-older" variant="subtle" size="xs" onClick={() => void inbox.older()}>
          {t.older}
        </Button>
      )}
      {thread.turns.map((turn) => {
        const newDay = !before || day(before.at, language, t) !== day(turn.at, language, t);
        const sameAuthor =
          !newDay &&
          before?.kind !== "event" &&
          before?.author === turn.author &&
          before?.account_id === turn.account_id &&
          !!before?.phone_app === !!turn.phone_app &&
          !!before?.note === !!turn.note &&
          (!turn.group || before?.name === turn.name);
        before = turn;
        return (
          <Fragment key={turn.seq}>
            {newDay && <p className="inbox-day">{day(turn.at, language, t)}</p>}
            {turn.event === "template_sent" ? (
              <Template turn={turn} me={inbox.me} t={t} language={language} sent={thread.sent[turn.seq]} />
            ) : turn.kind === "event" ? (
              <Happened turn={turn} t={t} language={language} />
            ) : (
              <Bubble
                turn={turn}
                first={!sameAuthor}
                t={t}
                language={language}
                me={inbox.me}
                name={name}
                times={times}
                sent={thread.sent[turn.seq]}
              />
            )}
            {turn.seq === seen && <p className="inbox-seen">{t.seen}</p>}
          </Fragment>
        );
      })}
      {caption && (
        <div className="inbox-turn" data-side="them" data-first="yes" data-pending="yes">
          <div className="inbox-bubble">{caption}…</div>
        </div>
      )}
      {thread.unsent.map((u) => (
        <Pending key={u.client_id} u={u} t={t} />
      ))}
      {writing.map((w) => (
        <p key={w.account} className="inbox-writing" data-side={w.author === "visitor" ? "them" : "us"}>
          {fill(t.writing, { name: w.author === "visitor" ? name : w.name || t.agent })}
        </p>
      ))}
    </div>
  );
}

interface BubbleProps {
  turn: Turn;
  first: boolean;
  t: InboxTexts;
  language: string;
  me: string;
  name: string;
  times: boolean;
  sent?: Delivery;
}

function Bubble({ turn, first, t, language, me, name, times, sent }: BubbleProps) {
  const side = turn.author === "visitor" ? "them" : "us";
  const who =
    turn.author === "visitor"
      ? (turn.group && turn.name) || name
      : turn.author === "agent"
        ? turn.name || t.agent
        : turn.phone_app
          ? t.phoneApp
          : turn.account_id === me
            ? t.you
            : turn.name || t.someone;
  return (
    <div
      className="inbox-turn"
      data-side={side}
      data-first={first ? "yes" : "no"}
      data-kind={turn.note ? "note" : turn.author}
    >
      {first && (
        <p className="inbox-who">
          {turn.note && <b>{t.note} · </b>}
          {who}
          {turn.author === "agent" && turn.name && turn.name !== t.agent ? ` · ${t.agent}` : ""}
          {turn.application ? ` · ${t.application}` : ""}{" "}
          <time dateTime={turn.at} title={absolute(turn.at, language)}>
            {clock(turn.at, language)}
          </time>
        </p>
      )}
      {turn.about && (
        <p className="inbox-about">
          <span className="hidden">{t.about}: </span>
          {turn.about}
        </p>
      )}
      <From turn={turn} />
      {turn.file ? <MediaFile file={turn.file} label={t.file} /> : null}
      {inPlace(turn) ? (
        <Enclosed turn={turn} language={language} />
      ) : (
        turn.text && (
          <div className="inbox-bubble" title={first ? undefined : absolute(turn.at, language)}>
            {turn.voice ? <Spoken text={turn.text} voice={turn.voice} /> : turn.text}
          </div>
        )
      )}
      {turn.choices && turn.choices.length > 0 && (
        <ul className="inbox-choices">
          {turn.choices.map((x) => (
            <li key={x}>{x}</li>
          ))}
        </ul>
      )}
      {turn.sources && turn.sources.length > 0 && (
        <p className="inbox-sources">
          {t.sources}:{" "}
          {turn.sources.map((s, i) => (
            <Fragment key={i}>
              {i > 0 && ", "}
              {safe(s.url) ? (
                <a href={s.url} target="_blank" rel="noopener noreferrer">
                  {s.title}
                </a>
              ) : (
                s.title
              )}
            </Fragment>
          ))}
        </p>
      )}
      <Why turn={turn} />
      {sent && <Tick d={sent} />}
      {turn.voice && times && <Times voice={turn.voice} language={language} />}
    </div>
  );
}

function safe(url: string | undefined): boolean {
  return !!url && /^https?:\/\//i.test(url);
}

function Pending({ u, t }: { u: Unsent; t: InboxTexts }) {
  return (
    <div
      className="inbox-turn"
      data-side="us"
      data-first="yes"
      data-kind={u.note ? "note" : "teammate"}
      data-pending="yes"
    >
      <p className="inbox-who">{t.sending}</p>
      <div className="inbox-bubble">{u.text}</div>
    </div>
  );
}
