import { Kbd, Modal } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { useTexts } from "../i18n";
import { shared } from "../ui/texts";
import { texts } from "./texts";

export interface Shortcut {
  keys: string[];
  text: string;
}

let more: { title: string; list: Shortcut[] }[] = [];
const listeners = new Set<() => void>();

/** listShortcuts adds a page's own shortcuts to the list until the returned function is called. */
export function listShortcuts(title: string, list: Shortcut[]): () => void {
  const part = { title, list };
  more = [...more, part];
  listeners.forEach((l) => l());
  return () => {
    more = more.filter((p) => p !== part);
    listeners.forEach((l) => l());
  };
}

function subscribe(l: () => void): () => void {
  listeners.add(l);
  return () => listeners.delete(l);
}

/** Shortcuts lists the keys that do something. */
export function Shortcuts({ opened, close }: { opened: boolean; close: () => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const pages = useSyncExternalStore(subscribe, () => more);
  const own: Shortcut[] = [
    { keys: ["Ctrl", "K"], text: t.openPalette },
    { keys: ["?"], text: t.openShortcuts },
  ];
  return (
    <Modal opened={opened} onClose={close} title={t.shortcuts} closeButtonProps={{ "aria-label": s.close }}>
      <Keys list={own} />
      {pages.map((p) => (
        <div key={p.title}>
          <h3 style={{ margin: "20px 0 8px" }}>{p.title}</h3>
          <Keys list={p.list} />
        </div>
      ))}
    </Modal>
  );
}

function Keys({ list }: { list: Shortcut[] }) {
  return (
    <dl className="keys-help">
      {list.map((k) => (
        <div key={k.text} style={{ display: "contents" }}>
          <dt>
            {k.keys.map((key) => (
              <Kbd key={key}>{key}</Kbd>
            ))}
          </dt>
          <dd>{k.text}</dd>
        </div>
      ))}
    </dl>
  );
}
