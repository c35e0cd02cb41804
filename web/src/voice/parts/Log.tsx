import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Line } from "../model";
import type { Texts } from "../texts";
import type { Voice } from "../voice";

/** Log is what was said. What is being spoken is read by people as it is heard; a screen reader gets it whole, afterwards. */
export function Log({ voice, all = false }: { voice: Voice; all?: boolean }) {
  const { model: m, texts, widget } = voice;
  const box = useRef<HTMLDivElement>(null);
  const [away, setAway] = useState(false);
  const last = m.lines[m.lines.length - 1];
  useLayoutEffect(() => {
    if (!away && box.current) box.current.scrollTop = all ? 0 : box.current.scrollHeight;
  }, [
    m.lines.length,
    last?.text,
    last?.sources,
    m.tentative,
    m.choices.length,
    m.handoff,
    away,
    m.notice,
    m.mic.problem,
  ]);
  useEffect(() => {
    // the orb shrinks, the keyboard of a telephone comes up
    const follow = new ResizeObserver(() => {
      if (!away && !all && box.current) box.current.scrollTop = box.current.scrollHeight;
    });
    follow.observe(box.current!);
    return () => follow.disconnect();
  }, [away, all]);
  const scrolled = () => {
    const b = box.current!;
    setAway(b.scrollHeight - b.scrollTop - b.clientHeight > 60);
  };
  // Without a transcript there are captions still: of the last that the agent says.
  const lines =
    widget.transcript === false && !all
      ? m.lines.filter((l, i) => i >= m.lines.length - 1 || l.author === "system").slice(-2)
      : m.lines;
  return (
    <div
      ref={box}
      class="log"
      role="log"
      aria-label={texts.conversation}
      aria-live="polite"
      tabIndex={0}
      onScroll={scrolled}
    >
      {lines.map((l, i) => (
        <Said
          key={l.key}
          line={l}
          first={l.author !== lines[i - 1]?.author || l.name !== lines[i - 1]?.name}
          texts={texts}
        />
      ))}
      {m.tentative && (
        <div class="row me" aria-hidden="true">
          <p class="bubble tentative" dir="auto">
            {m.tentative}…
          </p>
        </div>
      )}
    </div>
  );
}

function Said({ line: l, first, texts }: { line: Line; first: boolean; texts: Texts }) {
  if (l.author === "system")
    return (
      <p class="event" dir="auto">
        {l.text}
      </p>
    );
  const mine = l.author === "visitor";
  return (
    <div class={"row " + (mine ? "me" : "them") + (first ? " first" : "")}>
      {first && mine && <span class="hidden">{texts.you}: </span>}
      {first && l.name && !mine && (
        <span class="name" dir="auto">
          {l.name}
        </span>
      )}
      {(l.shown > 0 || !l.cut) && (
        <p class="bubble" dir="auto" aria-hidden={l.done ? undefined : "true"}>
          {l.cut ? (
            l.text.slice(0, l.shown).trimEnd()
          ) : l.done ? (
            l.text
          ) : (
            <>
              {l.text.slice(0, l.shown)}
              <span class="rest">{l.text.slice(l.shown)}</span>
            </>
          )}
          {l.cut && (
            <>
              {" "}
              <span class="cut">— {texts.cut}</span>
            </>
          )}
        </p>
      )}
      {l.sources && l.sources.length > 0 && (
        <p class="sources">
          <span>{texts.sources}:</span>
          {l.sources.map((s) =>
            s.url && /^https?:/.test(s.url) ? (
              <a key={s.title} href={s.url} target="_blank" rel="noopener noreferrer nofollow" dir="auto">
                {s.title}
              </a>
            ) : (
              <b key={s.title} dir="auto">
                {s.title}
              </b>
            ),
          )}
        </p>
      )}
    </div>
  );
}
