import { ActionIcon, Menu } from "@mantine/core";
import {
  IconCheck,
  IconChecks,
  IconCornerUpLeft,
  IconFile,
  IconMapPin,
  IconMoodSmile,
  IconPhoto,
  IconVideo,
} from "@tabler/icons-react";
import { Fragment } from "react";
import { fill, useLanguage } from "../../i18n";
import { Buttons, safe } from "./Buttons";
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
        {b.offer && <Offer offer={b.offer} t={t} />}
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
      {b.cards?.map((card, i) => (
        <div key={i}>
          <div className="handset-bubble">
            {card.header && <Header header={card.header} t={t} />}
            {card.text && <p className="handset-text">{card.text}</p>}
          </div>
          <Buttons b={{ ...b, buttons: card.buttons, choices: undefined }} t={t} may={may} write={write} />
        </div>
      ))}
    </div>
  );
}

function Offer({ offer, t }: { offer: NonNullable<Bubble["offer"]>; t: PhoneTexts }) {
  const language = useLanguage();
  const time = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  return (
    <p className="handset-header">
      {offer.text}
      {offer.ends_at && <small> {fill(t.until, { time: time.format(new Date(offer.ends_at)) })}</small>}
    </p>
  );
}

function Header({ header, t }: { header: NonNullable<Bubble["header"]>; t: PhoneTexts }) {
  if (header.format === "TEXT") return <p className="handset-header">{header.text}</p>;
  if (header.place)
    return (
      <p className="handset-media">
        <IconMapPin size={22} stroke={1.5} aria-hidden />
        <span>{header.place.name}</span>
        <small>{`${header.place.address} (${header.place.latitude}, ${header.place.longitude})`}</small>
      </p>
    );
  if (header.product) return <p className="handset-header">{fill(t.product, { id: header.product.product_id })}</p>;
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
