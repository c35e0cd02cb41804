import { why } from "../../ui/problem";
import { ActionIcon, TagsInput, TextInput } from "@mantine/core";
import { IconShieldCheck, IconX } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useEffect, useState, type ReactNode } from "react";
import { Avatar } from "./Avatar";
import { absolute, languageName } from "../../format";
import { ago, path } from "./format";
import { useTexts } from "../../i18n";
import { useCan } from "../../session";
import { ReviewShown } from "../reviews/Review";
import { reviewTexts } from "../reviews/texts";
import { messageTexts, enclosedTexts, type InboxTexts } from "./texts";
import { hidesNumber, isGroup, nameOf, previewOf } from "./model";
import type { Loaded } from "./snapshot";
import type { Inbox } from "./store";
import type { ContactPage } from "./types";
import type { Act } from "./acts";

interface Props {
  inbox: Inbox;
  thread: Loaded;
  t: InboxTexts;
  language: string;
  mayAnswer: boolean;
  act: Act;
  open(id: string): void;
  close(): void;
  toast(message: ReactNode, problem?: boolean): void;
}

/** ContactPanel says who the contact is, and what else the company had to do with them. */
export function ContactPanel({ inbox, thread, t, language, mayAnswer, act, open, close, toast }: Props) {
  const { conversation: c, contact } = thread;
  const m = useTexts(messageTexts);
  const e = useTexts(enclosedTexts);
  const r = useTexts(reviewTexts);
  const group = isGroup(contact);
  const can = useCan();
  const [page, setPage] = useState<ContactPage>();
  useEffect(() => {
    let on = true;
    inbox.contactPage(c.id).then(
      (p) => {
        if (on) setPage(p);
      },
      () => {
        if (on) setPage({ contact, conversations: [], notifications: [] });
      },
    );
    return () => {
      on = false;
    };
  }, [inbox, c.id, contact]);
  return (
    <aside className="inbox-contact" aria-label={t.details}>
      <header>
        <Avatar name={contact.name || contact.username} group={group} />
        <div>
          <h3>{nameOf(contact, contact.id, group ? e.group : t.visitor)}</h3>
          <p className="inbox-muted">
            {group ? (
              e.inGroup
            ) : contact.verified ? (
              <>
                <IconShieldCheck size={14} aria-hidden />{" "}
                {c.channel !== "whatsapp" ? t.verified : hidesNumber(thread) ? m.byUsername : m.byChannel}
              </>
            ) : (
              t.unverified
            )}
          </p>
        </div>
        <ActionIcon variant="subtle" color="gray" aria-label={t.hideDetails} onClick={close}>
          <IconX size={16} />
        </ActionIcon>
      </header>
      <div className="inbox-fields">
        {(group ? (["name"] as const) : (["name", "email", "number"] as const)).map((f) => (
          <Field
            key={f + contact[f]}
            inbox={inbox}
            field={f}
            value={contact[f]}
            label={t[f]}
            readOnly={!mayAnswer}
            t={t}
            toast={toast}
          />
        ))}
        <TagsInput
          label={t.tags}
          placeholder={c.tags.length === 0 ? t.addTag : undefined}
          value={c.tags}
          onChange={(tags) => void act("tags", { tags })}
          maxTags={20}
          size="xs"
          readOnly={!mayAnswer}
        />
      </div>
      <dl>
        {contact.username && (
          <>
            <dt>{m.username}</dt>
            <dd>@{contact.username}</dd>
          </>
        )}
        {contact.language && (
          <>
            <dt>{t.language}</dt>
            <dd>{languageName(contact.language, language)}</dd>
          </>
        )}
        {c.page && (
          <>
            <dt>{t.page}</dt>
            <dd title={c.page}>{path(c.page)}</dd>
          </>
        )}
        <dt>{t.firstSeen}</dt>
        <dd title={absolute(contact.created_at, language)}>{ago(contact.created_at, language)}</dd>
        <dt>{t.lastSeen}</dt>
        <dd title={absolute(contact.seen_at, language)}>{ago(contact.seen_at, language)}</dd>
        {c.rating ? (
          <>
            <dt>{t.rating}</dt>
            <dd>
              {"★".repeat(c.rating)}
              {c.comment && <q>{c.comment}</q>}
            </dd>
          </>
        ) : null}
      </dl>
      {thread.review && (
        <>
          <h4>{r.title}</h4>
          <ReviewShown review={thread.review} />
        </>
      )}
      {page && page.conversations.length > 0 && (
        <>
          <h4>{t.otherConversations}</h4>
          <ul className="inbox-others">
            {page.conversations.map((x) => (
              <li key={x.id}>
                <button type="button" onClick={() => open(x.id)}>
                  <span>{previewOf(x).text || "…"}</span>
                  <small>
                    {t[x.state]} · {ago(x.last_at, language)}
                  </small>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
      {!group && <h4>{t.notifications}</h4>}
      {group ? null : !contact.number && !page?.notifications.length ? (
        <p className="inbox-muted">{t.noNumber}</p>
      ) : page && page.notifications.length === 0 ? (
        <p className="inbox-muted">{t.noNotifications}</p>
      ) : (
        <ul className="inbox-others">
          {page?.notifications.map((n) => (
            <li key={n.notification_id}>
              <span>{n.name_template || n.campaign_name || n.channel}</span>
              <small>
                {n.state} · {ago(n.created_at, language)}
              </small>
            </li>
          ))}
        </ul>
      )}
      {can("settings:write") && !group && (
        <p className="inbox-personal">
          <Link to="/people" search={{ contact: contact.id }}>
            {m.personal}
          </Link>
        </p>
      )}
    </aside>
  );
}

function Field({
  inbox,
  field,
  value,
  label,
  readOnly,
  t,
  toast,
}: {
  inbox: Inbox;
  field: "name" | "email" | "number";
  value: string;
  label: string;
  readOnly: boolean;
  t: InboxTexts;
  toast: Props["toast"];
}) {
  const [text, setText] = useState(value);
  const [problem, setProblem] = useState<ReactNode>("");
  const save = async () => {
    if (text.trim() === value) return;
    try {
      await inbox.setContact({ [field]: text.trim() });
      setProblem("");
      toast(t.saved);
    } catch (e) {
      setProblem(why(e));
    }
  };
  return (
    <TextInput
      label={label}
      size="xs"
      value={text}
      type={field === "email" ? "email" : field === "number" ? "tel" : "text"}
      readOnly={readOnly}
      error={problem || undefined}
      maxLength={254}
      onChange={(e) => setText(e.currentTarget.value)}
      onBlur={() => void save()}
      onKeyDown={(e) => {
        if (e.key === "Enter") e.currentTarget.blur();
        if (e.key === "Escape") {
          setText(value);
          setProblem("");
        }
      }}
    />
  );
}
