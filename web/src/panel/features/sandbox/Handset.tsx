import { ActionIcon, Menu, Textarea } from "@mantine/core";
import {
  IconCornerUpLeft,
  IconFile,
  IconMicrophone,
  IconPaperclip,
  IconPhoto,
  IconPlaneOff,
  IconSend2,
  IconX,
} from "@tabler/icons-react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { fill } from "../../i18n";
import type { Bubble, Handset as Shown } from "./types";
import { useFollow } from "../../ui/follow";
import { failed } from "../../ui/problem";
import { Bubbles } from "./Bubbles";
import type { PhoneTexts } from "./texts";
import { useHandsetActions, type Written } from "./useHandset";
import "./handset.css";

interface Props {
  phone: Shown;
  title: string;
  name: string;
  may: boolean;
  t: PhoneTexts;
}

/** Handset is a phone in the hand: what it got, and what its owner writes. */
export function Handset({ phone, title, name, may, t }: Props) {
  const actions = useHandsetActions(phone.sender, phone.number);
  const [text, setText] = useState("");
  const [quoted, setQuoted] = useState<Bubble>();
  const box = useRef<HTMLDivElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const { atEnd, scrolled } = useFollow(box);
  const writes = may && !phone.unreachable;
  useLayoutEffect(() => {
    if (box.current && atEnd.current) box.current.scrollTop = box.current.scrollHeight;
  });
  useEffect(() => setQuoted(undefined), [phone.number]);
  const write = (w: Written) => {
    atEnd.current = true;
    actions.write({ ...w, name: name.trim() || undefined }).catch(failed);
  };
  const say = () => {
    const said = text.trim();
    if (!said) return;
    setText("");
    setQuoted(undefined);
    write({ kind: "text", text: said, reply_to: quoted?.id });
  };
  return (
    <section
      className="handset"
      aria-label={fill(t.phone, { number: phone.number })}
      data-away={phone.unreachable ? "yes" : "no"}
    >
      <header>
        <span className="handset-avatar" aria-hidden>
          {title.slice(0, 1)}
        </span>
        <div>
          <b>{title}</b>
          <p role="status">{phone.typing && !phone.unreachable ? t.typing : ""}</p>
        </div>
      </header>
      <div ref={box} className="handset-log" role="log" tabIndex={0} aria-label={t.messages} onScroll={scrolled}>
        {phone.messages.length === 0 && (
          <div className="handset-empty">
            <b>{t.empty}</b>
            <span>{t.emptyText}</span>
          </div>
        )}
        <Bubbles
          messages={phone.messages}
          t={t}
          may={writes}
          write={write}
          reply={(b) => {
            setQuoted(b);
            area.current?.focus();
          }}
        />
      </div>
      {phone.unreachable ? (
        <p className="handset-away">
          <IconPlaneOff size={16} aria-hidden />
          {t.away}
        </p>
      ) : !may ? (
        <p className="handset-away">{t.closed}</p>
      ) : (
        <footer>
          {quoted && (
            <p className="handset-quote">
              <IconCornerUpLeft size={14} aria-hidden />
              <span>{quoted.text}</span>
              <ActionIcon
                size="sm"
                variant="subtle"
                color="gray"
                aria-label={t.cancel}
                onClick={() => setQuoted(undefined)}
              >
                <IconX size={14} />
              </ActionIcon>
            </p>
          )}
          <div className="handset-quick">
            <button type="button" onClick={() => write({ kind: "text", text: t.stop })}>
              {t.stop}
            </button>
            <button type="button" onClick={() => write({ kind: "text", text: t.start })}>
              {t.start}
            </button>
          </div>
          <div className="handset-write">
            <Menu position="top-start" width={180}>
              <Menu.Target>
                <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t.attach}>
                  <IconPaperclip size={18} stroke={1.7} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item leftSection={<IconPhoto size={15} />} onClick={() => write({ kind: "file", file: "photo" })}>
                  {t.photo}
                </Menu.Item>
                <Menu.Item
                  leftSection={<IconMicrophone size={15} />}
                  onClick={() => write({ kind: "file", file: "voice" })}
                >
                  {t.voice}
                </Menu.Item>
                <Menu.Item
                  leftSection={<IconFile size={15} />}
                  onClick={() => write({ kind: "file", file: "document" })}
                >
                  {t.document}
                </Menu.Item>
              </Menu.Dropdown>
            </Menu>
            <Textarea
              ref={area}
              className="handset-text-field"
              value={text}
              onChange={(e) => setText(e.currentTarget.value)}
              aria-label={t.write}
              placeholder={t.write}
              autosize
              minRows={1}
              maxRows={4}
              maxLength={4096}
              onKeyDown={(e) => {
                if (e.key === "Enter" && !e.shiftKey && !e.nativeEvent.isComposing) {
                  e.preventDefault();
                  say();
                }
              }}
            />
            <ActionIcon size="lg" aria-label={t.send} disabled={!text.trim()} onClick={say}>
              <IconSend2 size={18} stroke={1.7} />
            </ActionIcon>
          </div>
        </footer>
      )}
    </section>
  );
}
