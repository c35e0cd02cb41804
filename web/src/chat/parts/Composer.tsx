import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Refused } from "../api";
import type { Chat } from "../chat";
import { fill, type Texts } from "../texts";
import { Icon } from "./Icon";

/** Composer is where the visitor writes. */
export function Composer({
  chat,
  texts,
  input,
}: {
  chat: Chat;
  texts: Texts;
  input: RefObject<HTMLTextAreaElement | null>;
}) {
  const [text, setText] = useState("");
  const [sending, setSending] = useState<{ name: string; share: number }>();
  const [problem, setProblem] = useState("");
  const picker = useRef<HTMLInputElement>(null);
  const m = chat.model;
  const over = [...text].length - chat.limits.text;
  useEffect(() => {
    const box = input.current!;
    box.style.height = "auto";
    box.style.height = Math.min(box.scrollHeight, 132) + "px";
  }, [text]);

  const send = () => {
    const said = text.trim();
    if (!said || over > 0) return; // before the session has begun it waits to be sent
    chat.say("text", said);
    setText("");
    input.current?.focus();
  };
  const tooBig = fill(texts.tooBig, { n: Math.floor(chat.limits.file / (1 << 20)) });
  const said = (e: unknown) =>
    ({ 400: texts.typeBad, 413: tooBig, 422: texts.fileFull })[e instanceof Refused ? e.status : 0] ?? texts.fileFailed;
  const attach = async (file: File) => {
    if (sending) return;
    setProblem("");
    if (file.size > chat.limits.file) {
      setProblem(tooBig);
      return;
    }
    if (/^(image|audio|video)\//.test(file.type) && !chat.limits.types.includes(file.type)) {
      setProblem(texts.typeBad);
      return;
    }
    setSending({ name: file.name, share: 0 });
    try {
      await chat.attach(file, (share) => setSending({ name: file.name, share }));
    } catch (e) {
      setProblem(said(e));
    } finally {
      setSending(undefined);
    }
  };
  useEffect(() => {
    const dropped = (e: Event) => void attach((e as CustomEvent<File>).detail);
    window.addEventListener("carillon-file", dropped);
    return () => window.removeEventListener("carillon-file", dropped);
  });

  if (m.state === "resolved") {
    return (
      <footer class="composer over">
        <button class="secondary" onClick={() => void chat.anew()}>
          {texts.anew}
        </button>
      </footer>
    );
  }
  return (
    <footer class="composer">
      {(problem || over > 0) && (
        <p class="problem" role="status">
          {over > 0 ? fill(texts.tooLong, { n: over }) : problem}
        </p>
      )}
      {sending && (
        <p class="note upload" role="status">
          <span dir="auto">{sending.name}</span> {texts.uploading}
          <progress value={sending.share} aria-label={texts.uploading} />
        </p>
      )}
      <div class="line">
        {chat.limits.file > 0 && (
          <button
            class="icon"
            aria-label={texts.attach}
            title={texts.attach}
            disabled={!!sending || m.phase !== "ready"}
            onClick={() => picker.current?.click()}
          >
            <Icon name="clip" />
          </button>
        )}
        <input
          ref={picker}
          type="file"
          hidden
          tabIndex={-1}
          aria-hidden="true"
          accept={[...chat.limits.types, ".csv", ".md", ".log"].join(",")}
          onChange={(e) => {
            const f = e.currentTarget.files?.[0];
            if (f) void attach(f);
            e.currentTarget.value = "";
          }}
        />
        <textarea
          ref={input}
          rows={1}
          value={text}
          placeholder={texts.placeholder}
          aria-label={texts.placeholder}
          dir="auto"
          enterkeyhint="send"
          onInput={(e) => {
            setText(e.currentTarget.value);
            chat.typed();
          }}
          onPaste={(e) => {
            const f = e.clipboardData?.files[0];
            if (f) {
              e.preventDefault();
              void attach(f);
            }
          }}
          onKeyDown={(e) => {
            if (e.key === "Enter" && !e.shiftKey && !e.isComposing) {
              e.preventDefault();
              send();
            }
          }}
        />
        <button
          class="icon send"
          aria-label={texts.send}
          title={texts.send}
          disabled={!text.trim() || over > 0}
          onClick={send}
        >
          <Icon name="send" filled />
        </button>
      </div>
    </footer>
  );
}
