import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { links, size, time } from "../format";
import type { ChatFile, Score, Turn, Unsent } from "../model";
import type { Texts } from "../texts";
import { Icon } from "./Icon";

/** Bubble is one thing said. */
export function Bubble({
  turn,
  first,
  last,
  texts,
  language,
  thumbs,
}: {
  turn: Turn;
  first: boolean;
  last: boolean;
  texts: Texts;
  language: string;
  /** What scores the turn; undefined: it has no thumbs. */
  thumbs?: (score?: Score) => Promise<void>;
}) {
  const mine = turn.author === "visitor";
  return (
    <div class={"row " + (mine ? "me" : "them") + (first ? " first" : "")}>
      {first && !mine && turn.name && (
        <span class="name" dir="auto">
          {turn.name}
        </span>
      )}
      {first && mine && <span class="hidden">{texts.you}</span>}
      {turn.file && <FileView file={turn.file} texts={texts} />}
      {turn.text && (
        <div class="bubble" dir="auto">
          {linked(turn.text)}
        </div>
      )}
      {turn.sources && turn.sources.length > 0 && (
        <p class="sources">
          <span>{texts.sources}:</span>
          {turn.sources.map((s) =>
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
      {thumbs && <Thumbs turn={turn} texts={texts} score={thumbs} />}
      {last && (
        <time dateTime={turn.at}>
          {time(turn.at, language)}
          {mine && <> · {texts.sent}</>}
        </time>
      )}
    </div>
  );
}

/** Thumbs are two buttons below an answer; a second press withdraws the first. */
function Thumbs({ turn, texts, score }: { turn: Turn; texts: Texts; score: (score?: Score) => Promise<void> }) {
  const [said, say] = useState("");
  const give = async (value: Score) => {
    const to = turn.score === value ? undefined : value;
    say("");
    try {
      await score(to);
      if (to) say(texts.noted);
    } catch {
      say(texts.notSent);
    }
  };
  const button = (value: Score, label: string) => (
    <button
      class={"thumb " + value}
      aria-pressed={turn.score === value}
      aria-label={label}
      title={label}
      onClick={() => void give(value)}
    >
      <Icon name="thumb" filled={turn.score === value} />
    </button>
  );
  return (
    <div class="thumbs">
      {button("like", texts.helpful)}
      {button("dislike", texts.unhelpful)}
      <span role="status">{said}</span>
    </div>
  );
}

/** Pending is what the server has not confirmed. */
export function Pending({
  unsent,
  texts,
  retry,
  drop,
  connected,
}: {
  unsent: Unsent;
  texts: Texts;
  retry: () => void;
  drop: () => void;
  connected: boolean;
}) {
  return (
    <div class={"row me first pending" + (unsent.refused ? " refused" : "")}>
      {unsent.file && <FileView file={unsent.file} texts={texts} />}
      {unsent.text && (
        <div class="bubble" dir="auto">
          {unsent.text}
        </div>
      )}
      {unsent.refused ? (
        <span class="problem" role="alert">
          {texts.notSent}: {unsent.refused}{" "}
          <button class="link" onClick={retry}>
            {texts.retry}
          </button>{" "}
          <button class="link" onClick={drop}>
            {texts.remove}
          </button>
        </span>
      ) : (
        <time>{connected ? texts.sending : texts.reconnecting}</time>
      )}
    </div>
  );
}

function FileView({ file, texts }: { file: ChatFile; texts: Texts }) {
  if (/^image\/(png|jpeg|gif|webp)$/.test(file.type)) {
    return (
      <a class="picture" href={file.url} target="_blank" rel="noopener noreferrer">
        <img src={file.url} alt={file.name} loading="lazy" />
      </a>
    );
  }
  return (
    <a class="file" href={file.url} target="_blank" rel="noopener noreferrer" download={file.name}>
      <Icon name="file" />
      <span>
        <b dir="auto">{file.name || texts.file}</b>
        <small>{size(file.size)}</small>
      </span>
    </a>
  );
}

/** linked makes links of web addresses. */
function linked(text: string): ComponentChildren[] {
  return links(text).map((part, i) =>
    part.href ? (
      <a key={i} href={part.href} target="_blank" rel="noopener noreferrer nofollow ugc">
        {part.text}
      </a>
    ) : (
      part.text
    ),
  );
}
