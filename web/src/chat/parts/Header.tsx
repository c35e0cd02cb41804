import { useEffect, useRef, useState } from "preact/hooks";
import type { Chat } from "../chat";
import type { Host } from "../host";
import { fill, type Texts } from "../texts";
import { Avatar } from "./Avatar";
import { Icon } from "./Icon";

/** Header names who answers, and holds the menu. */
export function Header({ chat, host, texts }: { chat: Chat; host: Host; texts: Texts }) {
  const [open, setOpen] = useState(false);
  const [asking, ask] = useState(false);
  const menu = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const { widget, model: m } = chat;
  const close = () => {
    setOpen(false);
    ask(false);
  };
  useEffect(() => {
    if (!open) return;
    menu.current?.querySelector<HTMLElement>("button")?.focus();
    const outside = (e: Event) => {
      if (!menu.current?.contains(e.target as Node) && !button.current?.contains(e.target as Node)) close();
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open, asking]);
  const keys = (e: KeyboardEvent) => {
    const all = [...(menu.current?.querySelectorAll<HTMLElement>("button") ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    if (e.key === "Escape") {
      e.preventDefault();
      close();
      button.current?.focus();
    } else if (e.key === "ArrowDown") {
      e.preventDefault();
      all[(at + 1) % all.length]?.focus();
    } else if (e.key === "ArrowUp") {
      e.preventDefault();
      all[(at - 1 + all.length) % all.length]?.focus();
    }
  };
  const title = widget.appearance.title || widget.company_name || texts.title;
  const talking = m.state !== "queued" && m.state !== "active";
  const items =
    m.state === "resolved"
      ? [{ text: texts.anew, run: () => void chat.anew() }]
      : [
          ...(widget.talk_to_person !== false && talking && m.state !== "missed"
            ? [{ text: texts.person, run: () => void chat.person() }]
            : []),
          { text: texts.end, run: () => ask(true) },
        ];
  return (
    <header class="head">
      <Avatar widget={widget} />
      <div class="who">
        <h1>{title}</h1>
        <p>{statusOf(chat, texts)}</p>
      </div>
      {widget.voice && (
        <button
          class="icon"
          aria-label={texts[widget.voice]}
          title={texts[widget.voice]}
          onClick={() => host.tell("voice")}
        >
          <Icon name={widget.voice === "talk" ? "mic" : "loud"} />
        </button>
      )}
      {m.phase === "ready" && (
        <button
          ref={button}
          class="icon"
          aria-haspopup="true"
          aria-expanded={open}
          aria-label={texts.menu}
          title={texts.menu}
          onClick={() => (open ? close() : setOpen(true))}
        >
          <Icon name="more" />
        </button>
      )}
      {host.embedded && widget.showClose !== false && (
        <button class="icon" aria-label={texts.close} title={texts.close} onClick={() => host.tell("close")}>
          <Icon name="close" />
        </button>
      )}
      {open && (
        <div ref={menu} class="menu" onKeyDown={keys}>
          {asking ? (
            <div role="alertdialog" aria-label={texts.endAsk}>
              <p>{texts.endAsk}</p>
              <button
                class="danger"
                onClick={() => {
                  close();
                  void chat.end();
                }}
              >
                {texts.endYes}
              </button>
              <button onClick={close}>{texts.cancel}</button>
            </div>
          ) : (
            items.map((item) => (
              <button
                key={item.text}
                onClick={() => {
                  if (item.text !== texts.end) close();
                  item.run();
                }}
              >
                {item.text}
              </button>
            ))
          )}
        </div>
      )}
    </header>
  );
}

/** statusOf is the status line: who replies now. A virtual agent is always named as one. */
export function statusOf({ widget, model: m }: Chat, texts: Texts): string {
  switch (m.state) {
    case "queued":
      return texts.waiting;
    case "active": {
      const name = [...m.turns].reverse().find((t) => t.author === "teammate" || t.event === "joined")?.name;
      return name ? fill(texts.withTeam, { name }) : texts.team;
    }
    case "missed":
      return texts.absent;
    case "bot":
      return [widget.agent?.name, widget.agent?.name ? texts.assistant : texts.team].filter(Boolean).join(" · ");
    default:
      return texts.resolved;
  }
}
