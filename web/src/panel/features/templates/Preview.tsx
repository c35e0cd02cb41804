import "./preview.css";
import {
  IconAddressBook,
  IconArrowBackUp,
  IconBuildingStore,
  IconCheck,
  IconChecks,
  IconCopy,
  IconExclamationCircle,
  IconExternalLink,
  IconFileText,
  IconForms,
  IconGift,
  IconList,
  IconMapPin,
  IconPackage,
  IconPhone,
  IconPhoneCall,
  IconPhoto,
  IconPlayerPlayFilled,
  IconShoppingBag,
  IconUser,
} from "@tabler/icons-react";
import { Fragment, type ReactNode } from "react";
import { fill, useLanguage, useTexts } from "../../i18n";
import type { TemplateButton, TemplateComponent } from "./types";
import { isCounted } from "./links";
import { piecesOf, type Piece } from "./markup";
import { previewTexts } from "./texts";
import { copiesCode, filledIn, markersOf, partOf } from "./variables";

export interface PreviewProps {
  components: TemplateComponent[];
  /** values by key: header_text_0 or header_image (an address), body_text_N, button_url_N. What is missing or blank is shown as a variable. */
  values?: Record<string, string | undefined>;
  /** samples stand, dimmed, where a value is missing. */
  samples?: Record<string, string>;
  /** scheme is that of the phone; by default that of the page. */
  scheme?: "light" | "dark";
  /** at is the time under the message; by default now. */
  at?: string | Date;
  /** state puts the sender's ticks beside the time. */
  state?: "sent" | "delivered" | "read" | "failed";
  /** sender is who the message is from, above it. */
  sender?: string;
  label?: string;
  /** compact leaves out the background, for lists. */
  compact?: boolean;
}

/** Preview is a template as WhatsApp shows it on a phone, filled with values. It asks the server for nothing; what people wrote is text, never markup. */
export function Preview({
  components,
  values = {},
  samples = {},
  scheme,
  at,
  state,
  sender,
  label,
  compact,
}: PreviewProps) {
  const t = useTexts(previewTexts);
  const language = useLanguage();
  const cards = partOf(components, "CAROUSEL")?.cards ?? [];
  const time = new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit" }).format(
    at === undefined ? new Date() : new Date(at),
  );
  return (
    <figure
      className="preview"
      data-scheme={scheme}
      data-compact={compact ? "yes" : undefined}
      aria-label={label ?? t.preview}
    >
      {sender && (
        <figcaption>
          <span aria-hidden="true">{/^\+?\d/.test(sender) ? <IconUser size={17} stroke={1.7} /> : [...sender][0]}</span>
          <bdi>{sender}</bdi>
        </figcaption>
      )}
      <div className="preview-message">
        <div className="preview-bubble">
          <Contents components={components} values={values} samples={samples} />
          <span className="preview-time">
            {time}
            {state && <Tick state={state} label={t[state]} />}
          </span>
        </div>
        <Buttons components={components} values={values} samples={samples} />
        {cards.length > 0 && (
          <div className="preview-cards" tabIndex={0} role="group" aria-label={t.cards}>
            {cards.map((c, i) => (
              <div key={i} className="preview-card">
                <div className="preview-bubble">
                  <Contents
                    components={c.components}
                    values={ofCard(values, i)}
                    samples={ofCard(samples, i)}
                    none={false}
                  />
                </div>
                <Buttons components={c.components} values={ofCard(values, i)} samples={ofCard(samples, i)} />
              </div>
            ))}
          </div>
        )}
      </div>
    </figure>
  );
}

type Values = Record<string, string | undefined>;

/** ofCard are the values of one card of a carousel, by their keys within the card. */
function ofCard(values: Values, card: number): Values {
  const prefix = `card_${card}_`;
  return Object.fromEntries(
    Object.entries(values)
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, value]) => [key.slice(prefix.length), value]),
  );
}

interface Filled {
  components: TemplateComponent[];
  values: Values;
  samples: Values;
}

/** Contents are what stands in a bubble: header, offer, text and footer. */
function Contents({ components, values, samples, none = true }: Filled & { none?: boolean }) {
  const t = useTexts(previewTexts);
  const header = partOf(components, "HEADER"),
    otp = otpOf(components),
    body = partOf(components, "BODY")?.text || (otp ? t.codeText : ""),
    offer = partOf(components, "LIMITED_TIME_OFFER")?.limited_time_offer,
    asks = !!partOf(components, "CALL_PERMISSION_REQUEST");
  const names = markersOf(body);
  const media = header?.format && header.format.toUpperCase() !== "TEXT" ? header.format.toUpperCase() : "";
  const title = media ? "" : (header?.text ?? "");
  const key = (name: string) => (otp ? "button_url_0" : "body_text_" + names.indexOf(name));
  const footer = footerOf(t, components);
  return (
    <>
      {media === "LOCATION" ? (
        <Place values={values} />
      ) : media === "PRODUCT" ? (
        <Media format={media} address={values.header_product} />
      ) : (
        media && <Media format={media} address={values["header_" + media.toLowerCase()]} />
      )}
      {title && (
        <p className="preview-title" dir="auto">
          <Pieces pieces={piecesOf(title, () => values.header_text_0)} sample={() => samples.header_text_0} />
        </p>
      )}
      {offer && (
        <div className="preview-offer">
          <IconGift size={20} stroke={1.6} aria-hidden="true" />
          <span>
            <b dir="auto">{offer.text}</b>
            {offer.has_expiration && <span>{t.offerEnds}</span>}
          </span>
        </div>
      )}
      {body ? (
        <p className="preview-body" dir="auto">
          <Pieces
            pieces={piecesOf(body, (name) => values[key(name)])}
            sample={(name) => samples[key(name)] ?? (otp ? "123456" : undefined)}
          />
          {otp && !partOf(components, "BODY")?.text && partOf(components, "BODY")?.add_security_recommendation
            ? " " + t.codeWarning
            : ""}
        </p>
      ) : (
        none && <p className="preview-none">{t.empty}</p>
      )}
      {footer && (
        <p className="preview-footer" dir="auto">
          {footer}
        </p>
      )}
      {asks && (
        <div className="preview-offer">
          <IconPhoneCall size={20} stroke={1.6} aria-hidden="true" />
          <span>{t.asksToCall}</span>
        </div>
      )}
    </>
  );
}

/** otpOf is the button of a one-time code. */
const otpOf = (components: TemplateComponent[]): TemplateButton | undefined =>
  partOf(components, "BUTTONS")?.buttons?.find(copiesCode);

function footerOf(t: Record<string, string>, components: TemplateComponent[]): string {
  const footer = partOf(components, "FOOTER");
  return (
    footer?.text || (footer?.code_expiration_minutes ? fill(t.expires!, { n: footer.code_expiration_minutes }) : "")
  );
}

/** Place is a map above the text. */
function Place({ values }: { values: Values }) {
  const t = useTexts(previewTexts);
  const name = values.header_location_name?.trim(),
    address = values.header_location_address?.trim();
  return (
    <div className="preview-media" data-format="location">
      <span className="preview-media-icon">
        <IconMapPin size={28} stroke={1.5} aria-hidden="true" />
      </span>
      <span className="preview-media-name">
        <span dir="auto">{name || t.location}</span>
        {address ? <bdi>{address}</bdi> : <Chip name="location" />}
      </span>
    </div>
  );
}

const tags = { bold: "strong", italic: "em", struck: "s", code: "code", block: "code" } as const;

type Samples = (name: string) => string | undefined;

function Pieces({ pieces, sample }: { pieces: Piece[]; sample: Samples }): ReactNode {
  return pieces.map((p, i) => {
    if (typeof p === "string") return <Fragment key={i}>{p}</Fragment>;
    if ("variable" in p) {
      const like = sample(p.variable);
      return like ? <Sample key={i} text={like} /> : <Chip key={i} name={p.variable} />;
    }
    const Tag = tags[p.mark];
    return (
      <Tag key={i} className={p.mark === "block" ? "preview-block" : undefined}>
        <Pieces pieces={p.pieces} sample={sample} />
      </Tag>
    );
  });
}

/** Chip is a variable that has no value. */
function Chip({ name }: { name: string }) {
  return <bdi className="preview-chip" dir="ltr">{`{{${name}}}`}</bdi>;
}

/** Sample is an example of a value that is still to come. */
function Sample({ text }: { text: string }) {
  return <bdi className="preview-sample">{text}</bdi>;
}

function Tick({ state, label }: { state: "sent" | "delivered" | "read" | "failed"; label: string }) {
  const Icon = state === "failed" ? IconExclamationCircle : state === "sent" ? IconCheck : IconChecks;
  return <Icon size={15} className={`preview-tick ${state}`} role="img" aria-label={label} />;
}

/** Media is a picture, film or document above the text. A page of the panel loads nothing from other hosts, so what is there stands as a name. */
function Media({ format, address }: { format: string; address?: string }) {
  const t = useTexts(previewTexts);
  const given = address?.trim() ?? "";
  const [Icon, name, key] =
    format === "IMAGE"
      ? ([IconPhoto, t.image, "image"] as const)
      : format === "VIDEO"
        ? ([IconPlayerPlayFilled, t.video, "video"] as const)
        : format === "PRODUCT"
          ? ([IconPackage, t.product, "product"] as const)
          : ([IconFileText, t.document, "document"] as const);
  if (format === "IMAGE" && own(given)) return <img className="preview-picture" src={given} alt={t.image} />;
  const file = given && fileOf(given);
  return (
    <div className="preview-media" data-format={key}>
      <span className="preview-media-icon">
        <Icon size={format === "DOCUMENT" ? 22 : 28} stroke={1.5} aria-hidden="true" />
      </span>
      <span className="preview-media-name">
        <span>{name}</span>
        {file ? <bdi title={given}>{file}</bdi> : <Chip name={key} />}
      </span>
    </div>
  );
}

/** own reports whether a picture comes from here. */
function own(address: string): boolean {
  if (/^(blob:|data:image\/)/.test(address)) return true;
  try {
    return typeof location !== "undefined" && new URL(address).origin === location.origin;
  } catch {
    return false;
  }
}

function fileOf(address: string): string {
  const last = address.split(/[?#]/)[0]!.split("/").filter(Boolean).pop() ?? address;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

const shown = 3; // more than these open as a list

function Buttons({ components, values, samples }: Filled) {
  const buttons = partOf(components, "BUTTONS")?.buttons ?? [];
  const t = useTexts(previewTexts);
  const first = buttons.length > shown ? shown - 1 : buttons.length;
  const draw = (b: TemplateButton, i: number) => (
    <Button key={i} button={b} suffix={values["button_url_" + i]} sample={samples["button_url_" + i]} />
  );
  if (buttons.length === 0) return null;
  return (
    <div className="preview-buttons">
      {buttons.slice(0, first).map(draw)}
      {first < buttons.length && (
        <details>
          <summary>
            <IconList size={16} aria-hidden="true" />
            {t.all}
          </summary>
          {buttons.slice(first).map((b, i) => draw(b, first + i))}
        </details>
      )}
    </div>
  );
}

const buttonIcons: Record<string, typeof IconPhone> = {
  URL: IconExternalLink,
  PHONE_NUMBER: IconPhone,
  OTP: IconCopy,
  COPY_CODE: IconCopy,
  CATALOG: IconBuildingStore,
  MPM: IconShoppingBag,
  SPM: IconPackage,
  FLOW: IconForms,
  VOICE_CALL: IconPhoneCall,
  REQUEST_CONTACT_INFO: IconAddressBook,
};

function Button({ button: b, suffix, sample }: { button: TemplateButton; suffix?: string; sample?: string }) {
  const t = useTexts(previewTexts);
  const otp = copiesCode(b);
  const variable = otp ? undefined : markersOf(b.url ?? "")[0];
  const given = suffix?.trim();
  const url = isCounted(b.url) && given ? given : filledIn(b.url ?? "", (_, whole) => given || whole);
  const Icon = buttonIcons[otp ? "OTP" : b.type] ?? IconArrowBackUp;
  const about = otp
    ? t.copies
    : b.type === "URL"
      ? fill(t.opens, { url })
      : b.type === "PHONE_NUMBER"
        ? fill(t.calls, { number: b.phone_number ?? "" })
        : b.type === "COPY_CODE"
          ? t.copies
          : undefined;
  const text =
    b.text ||
    (b.type === "OTP"
      ? b.otp_type?.toUpperCase() === "ONE_TAP"
        ? t.autofill
        : t.copyCode
      : ((t as Record<string, string>)[`label_${b.type}`] ?? t.button));
  return (
    <span className="preview-button" title={about}>
      <Icon size={16} stroke={1.8} aria-hidden="true" />
      <span dir="auto">{text}</span>
      {variable && !given && (sample ? <Sample text={sample} /> : <Chip name={variable} />)}
    </span>
  );
}
