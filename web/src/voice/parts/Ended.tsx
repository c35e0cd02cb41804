import { useState } from "preact/hooks";
import type { Host } from "../host";
import { duration, fill } from "../texts";
import type { Voice } from "../voice";
import { Head, Number } from "./Head";
import { Icon } from "./Icon";
import { Log } from "./Log";

/** Ended asks how it was, and offers to talk again. */
export function Ended({ voice, host }: { voice: Voice; host: Host }) {
  const { model: m, texts, widget } = voice;
  const again = () => voice.again();
  return (
    <div class="page">
      <Head host={host} texts={texts} widget={widget} title={widget.agent?.name || widget.name || texts.agent} />
      <main class="ended">
        <div class="over">
          <span class="mark" aria-hidden="true">
            <Icon name="check" size={26} />
          </span>
          <h2 tabIndex={-1} data-first>
            {texts.ended}
          </h2>
          {m.seconds > 0 && <p class="muted">{fill(texts.lasted, { time: duration(m.seconds) })}</p>}
        </div>
        {m.conversation && <Rating voice={voice} />}
        {widget.transcript !== false && m.lines.length > 0 && <Log voice={voice} all />}
        {m.conversation && <Number id={m.conversation} texts={texts} />}
      </main>
      <footer class="controls">
        <button class="primary large" onClick={again}>
          <Icon name={!voice.understands ? "loud" : "mic"} />
          {texts.again}
        </button>
      </footer>
    </div>
  );
}

function Rating({ voice }: { voice: Voice }) {
  const { texts, model } = voice;
  const [rating, setRating] = useState(0);
  const [comment, setComment] = useState("");
  const [problem, setProblem] = useState("");
  const [sending, setSending] = useState(false);
  if (model.rated)
    return (
      <p class="thanks" role="status">
        {texts.rated}
      </p>
    );
  const submit = async () => {
    setSending(true);
    setProblem("");
    try {
      await voice.rate(rating, comment.trim());
    } catch {
      setProblem(texts.notSent);
    } finally {
      setSending(false);
    }
  };
  return (
    <section class="rating">
      <fieldset class="stars">
        <legend>{texts.rate}</legend>
        {[1, 2, 3, 4, 5].map((n) => (
          <label key={n} class={n <= rating ? "on" : ""}>
            <input type="radio" name="rating" value={n} checked={rating === n} onChange={() => setRating(n)} />
            <span class="hidden">{fill(texts.stars, { n })}</span>
            <Icon name="star" filled={n <= rating} size={28} />
          </label>
        ))}
      </fieldset>
      {rating > 0 && (
        <>
          <label class="comment">
            {texts.comment}
            <textarea rows={2} maxLength={1000} value={comment} onInput={(e) => setComment(e.currentTarget.value)} />
          </label>
          {problem && (
            <p class="problem" role="alert">
              {problem}
            </p>
          )}
          <button class="secondary" disabled={sending} onClick={() => void submit()}>
            {texts.rateSend}
          </button>
        </>
      )}
    </section>
  );
}
