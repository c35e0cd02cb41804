import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Chat } from "../chat";
import { dayName } from "../format";
import type { WidgetData } from "../host";
import { openChoices, scoreable, type Model, type Score, type Turn } from "../model";
import { fill, type Texts } from "../texts";
import { Avatar } from "./Avatar";
import { Icon } from "./Icon";
import { Bubble, Pending } from "./Turn";

/** Thread shows what was said, newest at the bottom, and follows it unless the visitor has scrolled away. */
export function Thread({ chat, texts, picked }: { chat: Chat; texts: Texts; picked: () => void }) {
  const m = chat.model;
  const box = useRef<HTMLDivElement>(null);
  const [away, setAway] = useState(false);
  const stick = () => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  };
  const last = m.turns[m.turns.length - 1]?.seq ?? 0;
  useLayoutEffect(() => {
    if (!away) stick();
  }, [last, m.unsent.length, m.partial, m.typing, m.state]);
  useEffect(() => {
    const follow = new ResizeObserver(() => {
      if (!away) stick();
    });
    follow.observe(box.current!);
    return () => follow.disconnect();
  }, [away]);
  const scrolled = () => {
    const b = box.current!;
    setAway(b.scrollHeight - b.scrollTop - b.clientHeight > 80);
  };

  const shown = m.turns.filter((t) => t.kind !== "event" || (t.event! in texts && !inStatus(t, m.state)));
  const fresh = m.phase === "ready" && !m.unsent.length && !m.turns.some((t) => t.author === "visitor");
  const language = document.documentElement.lang;
  const choices = openChoices(m);
  const welcome = chat.widget.welcome;
  const pending = m.unsent.map((u) => (
    <Pending
      key={u.client_id}
      unsent={u}
      texts={texts}
      retry={() => chat.retry(u.client_id)}
      drop={() => chat.drop(u.client_id)}
      connected={m.connected}
    />
  ));
  return (
    <div class="scroller">
      <div ref={box} class="thread" onScroll={scrolled} role="log" aria-label={texts.conversation} tabIndex={0}>
        {m.phase === "loading" ? (
          <>
            <Skeleton />
            {pending}
          </>
        ) : (
          <>
            {fresh && m.state === "bot" && <Intro widget={chat.widget} texts={texts} />}
            <p class="day">
              <span>{dayName(shown[0]?.at ?? new Date().toISOString(), language, texts)}</span>
            </p>
            {welcome && (
              <div class="row them">
                <div class="bubble" dir="auto" lang={chat.widget.language}>
                  {welcome}
                </div>
              </div>
            )}
            {shown.map((t, i) => (
              <Row
                key={t.seq}
                turn={t}
                before={shown[i - 1]}
                after={shown[i + 1]}
                texts={texts}
                language={language}
                thumbs={chat.widget.scores !== false && scoreable(t) ? (score) => chat.score(t, score) : undefined}
              />
            ))}
            {m.partial && (
              <div class="row them">
                <div class="bubble" dir="auto" aria-hidden="true">
                  {m.partial}
                </div>
              </div>
            )}
            {!m.partial && m.typing && (
              <Typing
                name={m.typing.name || (m.typing.author === "agent" ? texts.assistant : texts.someone)}
                texts={texts}
              />
            )}
            {pending}
            {fresh && m.state !== "resolved" && !!chat.widget.starters?.length && (
              <div class="choices starters" role="group" aria-label={texts.starters}>
                {chat.widget.starters.map((question) => (
                  <button
                    key={question}
                    dir="auto"
                    lang={chat.widget.language}
                    onClick={() => {
                      chat.say("text", question);
                      picked();
                    }}
                  >
                    {question}
                  </button>
                ))}
              </div>
            )}
            {choices.length > 0 && (
              <div class="choices">
                {choices.map((c) => (
                  <button
                    key={c}
                    onClick={() => {
                      chat.say("choice", c);
                      picked();
                    }}
                    dir="auto"
                  >
                    {c}
                  </button>
                ))}
              </div>
            )}
          </>
        )}
      </div>
      {away && (
        <button
          class="newer icon"
          onClick={() => {
            setAway(false);
            stick();
          }}
          aria-label={texts.newer}
          title={texts.newer}
        >
          <Icon name="down" />
        </button>
      )}
    </div>
  );
}

/** inStatus reports whether Status, below the thread, already shows an event. */
function inStatus(turn: Turn, state: Model["state"]): boolean {
  return turn.event === "rated" || (turn.event === "missed" && state === "missed");
}

/** Intro is who answers, above an empty chat. */
function Intro({ widget, texts }: { widget: WidgetData; texts: Texts }) {
  return (
    <div class="intro">
      <Avatar widget={widget} />
      <p class="name" dir="auto">
        {widget.agent?.name || widget.appearance.title || widget.company_name}
      </p>
      <p>{widget.agent?.name ? texts.assistant : texts.team}</p>
    </div>
  );
}

function Row({
  turn,
  before,
  after,
  texts,
  language,
  thumbs,
}: {
  turn: Turn;
  before?: Turn;
  after?: Turn;
  texts: Texts;
  language: string;
  thumbs?: (score?: Score) => Promise<void>;
}) {
  const day = dayName(turn.at, language, texts);
  const newDay = !!before && dayName(before.at, language, texts) !== day; // the first day stands above the welcome
  return (
    <>
      {newDay && (
        <p class="day">
          <span>{day}</span>
        </p>
      )}
      {turn.kind === "event" ? (
        <p class="event">{fill(texts[turn.event as keyof Texts], { name: turn.name || texts.someone })}</p>
      ) : (
        <Bubble
          turn={turn}
          first={newDay || !before || !sameSpeaker(before, turn)}
          last={!sameSpeaker(turn, after)}
          texts={texts}
          language={language}
          thumbs={thumbs}
        />
      )}
    </>
  );
}

function sameSpeaker(a?: Turn, b?: Turn): boolean {
  return (
    !!a &&
    !!b &&
    a.kind !== "event" &&
    b.kind !== "event" &&
    a.author === b.author &&
    a.name === b.name &&
    Date.parse(b.at) - Date.parse(a.at) < 300_000
  );
}

function Typing({ name, texts }: { name: string; texts: Texts }) {
  return (
    <div class="row them">
      <div class="bubble typing" role="img" aria-label={fill(texts.writing, { name })}>
        <i />
        <i />
        <i />
      </div>
    </div>
  );
}

function Skeleton() {
  return (
    <div class="skeleton" aria-hidden="true">
      <div />
      <div />
      <div />
    </div>
  );
}
