import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";
import type { Chat } from "../chat";
import type { Host } from "../host";
import type { Texts } from "../texts";
import { Composer } from "./Composer";
import { Failed } from "./Failed";
import { Header } from "./Header";
import { Status } from "./Status";
import { Thread } from "./Thread";

/** App is the whole page. */
export function App({ chat, host, texts }: { chat: Chat; host: Host; texts: Texts }) {
  const [, redraw] = useReducer((n: number, _: void) => n + 1, 0);
  const [announced, announce] = useState("");
  const [dragging, drag] = useState(false);
  const input = useRef<HTMLTextAreaElement>(null);
  // Other effects wait for the next frame, which a page in the background gets late: the session may be there before.
  useLayoutEffect(() => {
    chat.onTurn = (turn) => {
      if (turn.kind !== "event") announce((turn.name ? turn.name + ": " : "") + (turn.text || turn.file?.name || ""));
    };
    return chat.subscribe(() => redraw());
  }, [chat]);
  useEffect(() => {
    const keys = (e: KeyboardEvent) => {
      if (e.key === "Escape" && !e.defaultPrevented && chat.widget.showClose !== false) host.tell("close");
    };
    window.addEventListener("keydown", keys);
    return () => window.removeEventListener("keydown", keys);
  }, [chat, host]);

  const m = chat.model;
  if (m.phase === "failed") return <Failed texts={texts} problem={m.problem} retry={() => location.reload()} />;
  const drop = (e: DragEvent) => {
    e.preventDefault();
    drag(false);
    const file = e.dataTransfer?.files[0];
    if (file) window.dispatchEvent(new CustomEvent("carillon-file", { detail: file }));
  };
  return (
    <div
      class="chat"
      onDragOver={(e) => {
        e.preventDefault();
        drag(true);
      }}
      onDragLeave={(e) => {
        if (e.currentTarget === e.target) drag(false);
      }}
      onDrop={drop}
    >
      <Header chat={chat} host={host} texts={texts} />
      {!m.connected && m.phase === "ready" && (
        <p class="banner" role="status">
          {navigator.onLine ? texts.reconnecting : texts.offline}
        </p>
      )}
      <main class="main">
        <Thread chat={chat} texts={texts} picked={() => input.current?.focus()} />
        <Status chat={chat} texts={texts} />
      </main>
      <Composer chat={chat} texts={texts} input={input} />
      <p class="hidden" role="status" aria-live="polite">
        {announced}
      </p>
      {dragging && (
        <div class="drop" aria-hidden="true">
          {texts.dropped}
        </div>
      )}
    </div>
  );
}
