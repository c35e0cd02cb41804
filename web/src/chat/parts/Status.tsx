import { useState } from "preact/hooks";
import type { Chat } from "../chat";
import { ahead, fill, type Texts } from "../texts";
import { Icon } from "./Icon";

/** Status is what the state of the conversation asks of the visitor: to wait, to leave an address, to rate. */
export function Status({ chat, texts }: { chat: Chat; texts: Texts }) {
  const m = chat.model;
  if (m.phase !== "ready") return null;
  if (m.state === "queued") {
    return (
      <section class="status" role="status">
        <span class="pulse" aria-hidden="true" />
        <p>
          {texts.queued}
          {m.position ? <> {ahead(texts.position, m.position)}</> : null}
        </p>
      </section>
    );
  }
  if (m.state === "missed") return <Contact chat={chat} texts={texts} />;
  if (m.state === "resolved" || m.state === "wrap_up") return <Rating chat={chat} texts={texts} key={m.conversation} />;
  return null;
}

function Contact({ chat, texts }: { chat: Chat; texts: Texts }) {
  const [name, setName] = useState(chat.model.contact.name ?? "");
  const [email, setEmail] = useState("");
  const [problem, setProblem] = useState("");
  if (chat.model.contact.email)
    return (
      <section class="status">
        <p>
          {texts.thanks} <b>{chat.model.contact.email}</b>
        </p>
      </section>
    );
  const submit = async (e: Event) => {
    e.preventDefault();
    if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email)) {
      setProblem(texts.emailBad);
      return;
    }
    try {
      await chat.leave({ name: name.trim() || undefined, email: email.trim() });
    } catch (x) {
      setProblem((x as Error).message || texts.notSent);
    }
  };
  return (
    <form class="status form" onSubmit={(e) => void submit(e)} noValidate>
      <p>{texts.away}</p>
      <label>
        {texts.name}
        <input value={name} maxLength={120} autocomplete="name" onInput={(e) => setName(e.currentTarget.value)} />
      </label>
      <label>
        {texts.email}
        <input
          type="email"
          value={email}
          maxLength={254}
          autocomplete="email"
          aria-invalid={!!problem}
          onInput={(e) => {
            setEmail(e.currentTarget.value);
            setProblem("");
          }}
        />
      </label>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      <button class="primary" type="submit">
        {texts.leave}
      </button>
    </form>
  );
}

function Rating({ chat, texts }: { chat: Chat; texts: Texts }) {
  const had = [...chat.model.turns].reverse().find((t) => t.event === "rated");
  const [rating, setRating] = useState(0);
  const [comment, setComment] = useState("");
  const [done, setDone] = useState(!!had);
  const [problem, setProblem] = useState("");
  if (done)
    return (
      <section class="status">
        <p>{texts.rated}</p>
      </section>
    );
  const submit = async () => {
    try {
      await chat.rate(rating, comment.trim());
      setDone(true);
    } catch (x) {
      setProblem((x as Error).message || texts.notSent);
    }
  };
  return (
    <section class="status form" aria-label={texts.rate}>
      <fieldset class="stars">
        <legend>{texts.rate}</legend>
        {[1, 2, 3, 4, 5].map((n) => (
          <label key={n} class={n <= rating ? "on" : ""}>
            <input type="radio" name="rating" value={n} checked={rating === n} onChange={() => setRating(n)} />
            <span class="hidden">{fill(texts.stars, { n })}</span>
            <Icon name="star" filled={n <= rating} />
          </label>
        ))}
      </fieldset>
      {rating > 0 && (
        <>
          <label>
            {texts.comment}
            <textarea rows={2} maxLength={1000} value={comment} onInput={(e) => setComment(e.currentTarget.value)} />
          </label>
          {problem && (
            <p class="problem" role="alert">
              {problem}
            </p>
          )}
          <button class="primary" onClick={() => void submit()}>
            {texts.rateSend}
          </button>
        </>
      )}
    </section>
  );
}
