// The shapes that all pages are made of.
import { ActionIcon, Button, CopyButton, Skeleton, Tooltip } from "@mantine/core";
import { IconAlertTriangle, IconArrowLeft, IconCheck, IconCopy, IconInfoCircle, IconMapOff } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { createContext, useContext, useEffect, type ReactNode } from "react";
import { Problem } from "../api";
import { useTexts } from "../i18n";
import css from "./parts.module.css";
import { problemText, requestOf } from "./problem";
import { shared } from "./texts";

interface List {
  to: string;
  text: string;
  search?: Record<string, unknown>;
}

/** Above is the list that a page belongs to. */
const Above = createContext<List | undefined>(undefined);

/** Page is a page with its heading; title is the window's too. */
export function Page({
  title,
  about,
  actions,
  back,
  children,
}: {
  title: string;
  about?: ReactNode;
  actions?: ReactNode;
  back?: List;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = title + " · Carillon";
  }, [title]);
  return (
    <div className="page">
      {back && (
        <Link to={back.to} search={back.search} className="back">
          <IconArrowLeft size={14} />
          {back.text}
        </Link>
      )}
      <div className="page-head">
        <div>
          <h1>{title}</h1>
          {about && <p>{about}</p>}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
      </div>
      <Above value={back}>{children}</Above>
    </div>
  );
}

/** ToList leads from a page whose thing is gone to the list of the others. */
export function ToList() {
  const t = useTexts(shared);
  const list = useContext(Above);
  if (!list) return null;
  return (
    <Button
      variant="default"
      renderRoot={(props) => (
        <Link to={list.to} search={list.search} {...props} aria-label={`${t.toList}: ${list.text}`} />
      )}
    >
      {t.toList}
    </Button>
  );
}

/** Card is a part of a page. */
export function Card({
  title,
  actions,
  children,
  flush,
  label,
}: {
  title?: string;
  actions?: ReactNode;
  children: ReactNode;
  flush?: boolean;
  label?: string;
}) {
  return (
    <section className="card" aria-label={title ?? label}>
      {title && (
        <header>
          <h2>{title}</h2>
          {actions}
        </header>
      )}
      {flush ? children : <div className="body">{children}</div>}
    </section>
  );
}

/** Forms are cards with forms that have the page's width to themselves. */
export function Forms({ disabled, children }: { disabled?: boolean; children: ReactNode }) {
  return (
    <fieldset disabled={disabled} className={`stack ${css.forms}`}>
      {children}
    </fieldset>
  );
}

/** Empty says that there is nothing yet, and what to do about it. */
export function Empty({
  icon,
  title,
  text,
  children,
  main,
}: {
  icon: ReactNode;
  title: string;
  text: string;
  children?: ReactNode;
  main?: boolean;
}) {
  const Title = main ? "h1" : "h2"; // main: it is all that the page shows
  return (
    <div className="empty">
      <div className="icon" aria-hidden="true">
        {icon}
      </div>
      <Title>{title}</Title>
      <p>{text}</p>
      {children && <div className="actions">{children}</div>}
    </div>
  );
}

/** Failed says that something could not be loaded. What does not exist is not asked for again. */
export function Failed({ error, retry }: { error: unknown; retry: () => void }) {
  const t = useTexts(shared);
  const id = requestOf(error);
  if (error instanceof Problem && error.status === 404)
    return (
      <Empty icon={<IconMapOff size={22} />} title={t.not_found} text={t.notFoundText}>
        <ToList />
      </Empty>
    );
  return (
    <div className="empty" role="alert">
      <div className="icon" aria-hidden="true">
        <IconAlertTriangle size={22} />
      </div>
      <h2>{problemText(error)}</h2>
      {id && (
        <p className="small">
          {t.requestId} <code>{id}</code>
        </p>
      )}
      <div className="actions">
        <Button variant="default" onClick={retry}>
          {t.retry}
        </Button>
      </div>
    </div>
  );
}

/** Rows is a list that is being loaded; a bare one is within a card. */
export function Rows({ n = 5, bare }: { n?: number; bare?: boolean }) {
  const t = useTexts(shared);
  return (
    <div className={bare ? undefined : "card"} role="status" aria-busy="true" aria-label={t.loading}>
      {Array.from({ length: n }, (_, i) => (
        <div key={i} className="body" style={{ display: "flex", gap: 24, padding: "14px 24px" }}>
          <Skeleton height={14} width={`${30 - (i % 3) * 5}%`} />
          <Skeleton height={14} width="15%" />
          <Skeleton height={14} width="20%" />
        </div>
      ))}
    </div>
  );
}

export type Tone = "ok" | "warn" | "danger" | "accent";

/** Tag is a short state. */
export function Tag({ tone, children }: { tone?: Tone; children: ReactNode }) {
  return <span className={tone ? `tag ${tone}` : "tag"}>{children}</span>;
}

/** Note is a remark within a page. */
export function Note({ tone, children }: { tone?: "ok" | "warn" | "danger"; children: ReactNode }) {
  const Icon = tone === "ok" ? IconCheck : tone ? IconAlertTriangle : IconInfoCircle;
  return (
    <div className={tone ? `note ${tone}` : "note"} role={tone === "danger" ? "alert" : undefined}>
      <Icon size={16} aria-hidden="true" />
      <div>{children}</div>
    </div>
  );
}

/** Copy is a button that copies a text. */
export function Copy({ value, label }: { value: string; label?: string }) {
  const t = useTexts(shared);
  return (
    <CopyButton value={value} timeout={1500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? t.copied : (label ?? t.copy)}>
          <ActionIcon variant="subtle" color="gray" onClick={copy} aria-label={label ?? t.copy}>
            {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  );
}

/** Snippet is code to copy. */
export function Snippet({ code, label }: { code: string; label?: string }) {
  return (
    <div className="snippet">
      <code>{code}</code>
      <Copy value={code} label={label} />
    </div>
  );
}
