import { CopyButton } from "@mantine/core";
import { IconCopy, IconExternalLink, IconPhone } from "@tabler/icons-react";
import { fill } from "../../i18n";
import type { PhoneTexts } from "./texts";
import type { Bubble } from "./types";
import type { Written } from "./useHandset";

/** safe reports whether a browser may open an address. */
export function safe(url: string | undefined): boolean {
  return !!url && /^https?:\/\//i.test(url);
}

/** Buttons are the buttons and choices below a message. */
export function Buttons({ b, t, may, write }: { b: Bubble; t: PhoneTexts; may: boolean; write(w: Written): void }) {
  if (!b.buttons?.length && !b.choices?.length && !b.asks_number) return null;
  const tap = (text: string, payload?: string) =>
    write({ kind: "choice", text, payload: payload || undefined, reply_to: b.id });
  const share = () => write({ kind: "contact", reply_to: b.id });
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
        ) : x.code ? (
          <CopyButton key={i} value={x.code}>
            {({ copied, copy }) => (
              <button type="button" onClick={copy}>
                <IconCopy size={15} aria-hidden />
                {copied ? t.copied : `${x.text}: ${x.code}`}
              </button>
            )}
          </CopyButton>
        ) : ["CATALOG", "MPM", "SPM", "FLOW", "VOICE_CALL"].includes(x.type) ? (
          <span key={i} title={x.sections?.map((s) => `${s.title}: ${s.products.join(", ")}`).join("; ")}>
            {x.text}
          </span>
        ) : (
          <button
            key={i}
            type="button"
            disabled={!may}
            onClick={() => (x.type === "REQUEST_CONTACT_INFO" ? share() : tap(x.text, x.payload))}
          >
            {x.text}
          </button>
        ),
      )}
      {b.choices?.map((c) => (
        <button key={c} type="button" disabled={!may} onClick={() => tap(c)}>
          {c}
        </button>
      ))}
      {b.asks_number && (
        <button type="button" disabled={!may} onClick={share}>
          {t.shareNumber}
        </button>
      )}
    </div>
  );
}
