// The parts of messages over a messaging channel.
import { IconAd2, IconId, IconPackage } from "@tabler/icons-react";
import { fill, useTexts } from "../../i18n";
import { money, total } from "./enclosed";
import { enclosedTexts as texts } from "./texts";
import type { Card, Order, Turn } from "./types";

/** inPlace reports whether the parts of a message are shown in the place of its text, which says the same. */
export function inPlace(turn: Turn): boolean {
  return !!(turn.form || turn.order || turn.cards);
}

/** Enclosed is a form's answers, an order or contact cards. */
export function Enclosed({ turn, language }: { turn: Turn; language: string }) {
  const t = useTexts(texts);
  return (
    <div className="inbox-bubble inbox-enclosed">
      {turn.form && (
        <dl aria-label={t.form}>
          {turn.form.map((a) => (
            <div key={a.name}>
              <dt>{a.question}</dt>
              <dd>{a.answer}</dd>
            </div>
          ))}
        </dl>
      )}
      {turn.order && <Ordered order={turn.order} language={language} />}
      {turn.cards?.map((c, i) => (
        <ContactCard key={i} card={c} />
      ))}
    </div>
  );
}

function Ordered({ order, language }: { order: Order; language: string }) {
  const t = useTexts(texts);
  const sum = total(order, language);
  return (
    <>
      <table>
        <caption>{t.order}</caption>
        <thead>
          <tr>
            <th scope="col">{t.product}</th>
            <th scope="col">{t.quantity}</th>
            <th scope="col">{t.price}</th>
          </tr>
        </thead>
        <tbody>
          {order.items.map((x, i) => (
            <tr key={i}>
              <td>{x.product_id}</td>
              <td>{x.quantity}</td>
              <td>{money(x.price, x.currency, language)}</td>
            </tr>
          ))}
        </tbody>
        {sum && (
          <tfoot>
            <tr>
              <th scope="row" colSpan={2}>
                {t.total}
              </th>
              <td>{sum}</td>
            </tr>
          </tfoot>
        )}
      </table>
      {order.text && <p>{order.text}</p>}
    </>
  );
}

function ContactCard({ card }: { card: Card }) {
  const values = [
    [card.company, card.title].filter(Boolean).join(", "),
    ...(card.numbers ?? []),
    ...(card.emails ?? []),
    ...(card.urls ?? []),
    ...(card.addresses ?? []),
    card.birthday ?? "",
  ];
  return (
    <div className="inbox-card">
      <IconId size={16} aria-hidden />
      <ul>
        <li>
          <b>{card.name || values.find(Boolean)}</b>
        </li>
        {values
          .filter((v) => v && (card.name || v !== values.find(Boolean)))
          .map((v, i) => (
            <li key={i}>{v}</li>
          ))}
      </ul>
    </div>
  );
}

/** From is the ad that led to a message, and the product that it is about. */
export function From({ turn }: { turn: Turn }) {
  const t = useTexts(texts);
  const r = turn.referral;
  const headline = r && (r.headline || r.body || r.source_url || r.source_id || "");
  return (
    <>
      {r && (
        <p className="inbox-from" title={r.body || undefined}>
          <IconAd2 size={14} aria-hidden />
          {r.source_type === "post" ? t.post : t.ad}
          {headline && ": "}
          {r.source_url && /^https?:\/\//i.test(r.source_url) ? (
            <a href={r.source_url} target="_blank" rel="noopener noreferrer">
              {headline}
            </a>
          ) : (
            headline
          )}
        </p>
      )}
      {turn.product && (
        <p className="inbox-from">
          <IconPackage size={14} aria-hidden />
          {fill(t.about, { product: turn.product.product_id })}
        </p>
      )}
    </>
  );
}
