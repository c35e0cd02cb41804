import { ActionIcon, Menu } from "@mantine/core";
import {
  IconCheck,
  IconChecks,
  IconCornerUpLeft,
  IconExternalLink,
  IconFile,
  IconMoodSmile,
  IconPhone,
  IconPhoto,
  IconVideo,
} from "@tabler/icons-react";
import { Fragment } from "react";
import { fill, useLanguage } from "../../i18n";
import type { Bubble } from "./types";
import { MediaFile } from "../../ui/MediaFile";
import type { PhoneTexts } from "./texts";
import type { Written } from "./useHandset";

const emojis = ["👍", "❤️", "😂", "😮", "🙏"];

interface Props {
  messages: Bubble[];
  t: PhoneTexts;
  may: boolean;
  write(w: Written): void;
  reply(b: Bubble): void;
}

/** Bubbles are the messages on the phone, the oldest first. */
export function Bubbles({ messages, t, may, write, reply }: Props) {
  return (
    <>
      {messages.map((b) => (
        <One key={(b.own ? "o" : "i") + b.id + b.at} b={b} t={t} may={may} write={write} reply={reply} />
      ))}
    </>
  );
}

function One({ b, t, may, write, reply }: Omit<Props, "messages"> & { b: Bubble }) {
  const language = useLanguage();
  if (b.kind === "reaction")
    return b.text ? (
      <p className="handset-note">
        {fill(t.reacted, { emoji: b.text })}
        {b.about && (
          <>
            {" "}
            {t.reactedTo} <q>{b.about}</q>
          </>
        )}
      </p>
    ) : null;
  const time = new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit" }).format(new Date(b.at));
  return (
    <div className="handset-message" data-own={b.own ? "yes" : "no"} data-kind={b.kind}>
      <div className="handset-bubble">
        <span className="hidden">{b.own ? t.you : t.company}: </span>
        {b.about && (
          <p className="handset-about">
            <span className="hidden">{t.quoted}: </span>
            {b.about}
          </p>
        )}
        {b.header && <Header header={b.header} t={t} />}
        {b.file && <MediaFile file={b.file} label={t.file} />}
        {b.text && <p className="handset-text">{b.text}</p>}
        {b.sources?.map((s, i) => (
          <Fragment key={i}>
            {safe(s.url) && (
              <p>
                <a href={s.url} target="_blank" rel="noopener noreferrer">
                  {s.url}
                </a>
              </p>
            )}
          </Fragment>
        ))}
        {b.footer && <p className="handset-footer">{b.footer}</p>}
        <span className="handset-time">
          {time}
          {b.own &&
            (b.read ? (
              <IconChecks size={14} className="handset-read" aria-label={t.readByCompany} />
            ) : (
              <IconCheck size={14} aria-label={t.sent} />
            ))}
        </span>
      </div>
      {!b.own && may && (
        <Menu position="bottom-start" withinPortal width={200}>
          <Menu.Target>
            <ActionIcon className="handset-more" variant="subtle" color="gray" size="sm" aria-label={t.more}>
              <IconMoodSmile size={15} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<IconCornerUpLeft size={15} />} onClick={() => reply(b)}>
              {t.reply}
            </Menu.Item>
            <Menu.Divider />
            {emojis.map((e) => (
              <Menu.Item
                key={e}
                aria-label={fill(t.react, { emoji: e })}
                onClick={() => write({ kind: "reaction", text: e, reply_to: b.id })}
              >
                {e}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
      <Buttons b={b} t={t} may={may} write={write} />
    </div>
  );
}

function Header({ header, t }: { header: NonNullable<Bubble["header"]>; t: PhoneTexts }) {
  if (header.format === "TEXT") return <p className="handset-header">{header.text}</p>;
  const [Icon, name] =
    header.format === "IMAGE"
      ? ([IconPhoto, t.image] as const)
      : header.format === "VIDEO"
        ? ([IconVideo, t.video] as const)
        : ([IconFile, t.file] as const);
  return (
    <p className="handset-media">
      <Icon size={22} stroke={1.5} aria-hidden />
      <span>{name}</span>
      {header.url && <small>{header.url}</small>}
    </p>
  );
}

function safe(url: string | undefined): boolean {
  return !!url && /^https?:\/\//i.test(url);
}

function Buttons({ b, t, may, write }: { b: Bubble; t: PhoneTexts; may: boolean; write(w: Written): void }) {
  if (!b.buttons?.length && !b.choices?.length) return null;
  const tap = (text: string, payload?: string) =>
    write({ kind: "choice", text, payload: payload || undefined, reply_to: b.id });
  return (
    <div className="handset-buttons">
      {b.buttons?.map((x, i) =>
        x.type === "URL" ? (
          safe(x.url) ? (
            <a key={i} href={x.url} target="_blank" rel="noopener noreferrer">
              <IconExternalLink size={15} aria-hidden />
              {x.text}
            </a>
          ) : (
            <span key={i}>{x.text}</span>
          )
        ) : x.type === "PHONE_NUMBER" ? (
          <span key={i} title={fill(t.call, { number: x.phone ?? "" })}>
            <IconPhone size={15} aria-hidden />
            {x.text}
          </span>
        ) : (
          <button key={i} type="button" disabled={!may} onClick={() => tap(x.text, x.payload)}>
            {x.text}
          </button>
        ),
      )}
      {b.choices?.map((c) => (
        <button key={c} type="button" disabled={!may} onClick={() => tap(c)}>
          {c}
        </button>
      ))}
    </div>
  );
}
