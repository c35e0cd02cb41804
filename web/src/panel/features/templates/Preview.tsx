import "./preview.css";
import {
  IconArrowBackUp,
  IconCheck,
  IconChecks,
  IconCopy,
  IconExclamationCircle,
  IconExternalLink,
  IconFileText,
  IconList,
  IconPhone,
  IconPhoto,
  IconPlayerPlayFilled,
  IconUser,
} from "@tabler/icons-react";
import { Fragment, type ReactNode } from "react";
import { fill, useLanguage, useTexts } from "../../i18n";
import type { TemplateButton, TemplateComponent } from "./types";
import { piecesOf, type Piece } from "./markup";
import { previewTexts } from "./texts";
import { filledIn, markersOf } from "./variables";

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
  const part = (type: string) => components.find((c) => c.type === type);
  const header = part("HEADER"),
    body = part("BODY")?.text ?? "",
    footer = part("FOOTER")?.text ?? "",
    buttons = part("BUTTONS")?.buttons ?? [];
  const names = markersOf(body);
  const media = header?.format && header.format !== "TEXT" ? header.format : "";
  const title = media ? "" : (header?.text ?? "");
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
          {media && <Media format={media} address={values["header_" + media.toLowerCase()]} />}
          {title && (
            <p className="preview-title" dir="auto">
              <Pieces pieces={piecesOf(title, () => values.header_text_0)} sample={() => samples.header_text_0} />
            </p>
          )}
          {body ? (
            <p className="preview-body" dir="auto">
              <Pieces
                pieces={piecesOf(body, (name) => values["body_text_" + names.indexOf(name)])}
                sample={(name) => samples["body_text_" + names.indexOf(name)]}
              />
            </p>
          ) : (
            <p className="preview-none">{t.empty}</p>
          )}
          {footer && (
            <p className="preview-footer" dir="auto">
              {footer}
            </p>
          )}
          <span className="preview-time">
            {time}
            {state && <Tick state={state} label={t[state]} />}
          </span>
        </div>
        {buttons.length > 0 && <Buttons buttons={buttons} values={values} samples={samples} />}
      </div>
    </figure>
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

function Buttons({
  buttons,
  values,
  samples,
}: {
  buttons: TemplateButton[];
  values: Record<string, string | undefined>;
  samples: Record<string, string>;
}) {
  const t = useTexts(previewTexts);
  const first = buttons.length > shown ? shown - 1 : buttons.length;
  const draw = (b: TemplateButton, i: number) => (
    <Button key={i} button={b} suffix={values["button_url_" + i]} sample={samples["button_url_" + i]} />
  );
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

function Button({ button: b, suffix, sample }: { button: TemplateButton; suffix?: string; sample?: string }) {
  const t = useTexts(previewTexts);
  const variable = markersOf(b.url ?? "")[0];
  const url = filledIn(b.url ?? "", (_, whole) => suffix?.trim() || whole);
  const [Icon, about] =
    b.type === "URL"
      ? ([IconExternalLink, fill(t.opens, { url })] as const)
      : b.type === "PHONE_NUMBER"
        ? ([IconPhone, fill(t.calls, { number: b.phone_number ?? "" })] as const)
        : b.type === "COPY_CODE"
          ? ([IconCopy, t.copies] as const)
          : ([IconArrowBackUp, undefined] as const);
  return (
    <span className="preview-button" title={about}>
      <Icon size={16} stroke={1.8} aria-hidden="true" />
      <span dir="auto">{b.text}</span>
      {variable && !suffix?.trim() && (sample ? <Sample text={sample} /> : <Chip name={variable} />)}
    </span>
  );
}
