import { English } from "../../ui/English";
import "./templates.css";
import { useSenderName } from "../../ui/sender";
import { phone } from "../../ui/number";
import { Button } from "@mantine/core";
import { IconLanguage, IconPencil, IconSend, IconSend2, IconTemplateOff, IconTrash } from "@tabler/icons-react";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { Problem } from "../../api";
import { languageName, number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { Ago } from "../../ui/Ago";
import { confirm } from "../../ui/confirm";
import { More } from "../../ui/More";
import { Card, Copy, Empty, Failed, Note, Page, Rows, ToList } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { formOf, sampleValues } from "./form";
import { History } from "./History";
import { Preview } from "./Preview";
import { explained } from "./reasons";
import { Review } from "./Review";
import { State, Unsupported } from "./State";
import { Statistics } from "./Statistics";
import { texts } from "./texts";
import type { TemplateRow } from "./types";
import { useTemplate, useTemplateChanges, useTemplates } from "./useTemplates";

export function TemplatePage() {
  const { id } = useParams({ from: "/shell/templates/$id" });
  return (
    <Needs permission="templates:read">
      <Loaded key={id} id={id} />
    </Needs>
  );
}

function Loaded({ id }: { id: string }) {
  const t = useTexts(texts);
  const one = useTemplate(id);
  const gone = one.error instanceof Problem && one.error.status === 404;
  if (one.data && !gone) return <Shown template={one.data} />;
  return (
    <Page title={t.template} back={{ to: "/templates", text: t.title }}>
      {gone ? (
        <Card flush label={t.template}>
          <Empty icon={<IconTemplateOff size={22} />} title={t.gone} text={t.goneText}>
            <ToList />
          </Empty>
        </Card>
      ) : one.isError ? (
        <Card flush label={t.template}>
          <Failed error={one.error} retry={() => void one.refetch()} />
        </Card>
      ) : (
        <Rows />
      )}
    </Page>
  );
}

function Shown({ template: x }: { template: TemplateRow }) {
  const senderName = useSenderName();
  const t = useTexts(texts);
  const language = useLanguage();
  const write = useCan()("templates:write");
  const others = (useTemplates().data ?? []).filter((o) => o.name === x.name && o.sender === x.sender && o.id !== x.id);
  return (
    <Page
      title={x.name}
      back={{ to: "/templates", text: t.title }}
      actions={<Actions template={x} write={write} />}
      about={
        <span className="templates-head">
          <State status={x.status} />
          <Unsupported parts={x.unsupported} />
          <span>{languageName(x.language.replace("_", "-"), language)}</span>
          <span>{t[x.category as "UTILITY"] ?? x.category}</span>
          <span>
            {t.changed} <Ago at={x.updated_at} />
          </span>
        </span>
      }
    >
      <div className="templates-columns">
        <div className="stack">
          <Standing template={x} write={write} />
          <Details template={x} others={others} />
          <Statistics template={x} />
          <History template={x} />
        </div>
        <div className="templates-side">
          <Preview components={x.components} values={sampleValues(formOf(x))} sender={senderName(x.sender)} />
        </div>
      </div>
    </Page>
  );
}

/** Standing is where the template stands, why, and what comes next. A new status is said aloud. */
function Standing({ template: x, write }: { template: TemplateRow; write: boolean }) {
  const t = useTexts(texts);
  const before = useRef(x.status);
  useEffect(() => {
    if (before.current === "pending" && x.status === "approved") succeeded(fill(t.nowApproved, { name: x.name }));
    before.current = x.status;
  }, [x.status]);
  const { what, next, words } = explained(t, x.reason);
  const tone = {
    draft: undefined,
    pending: undefined,
    approved: "ok",
    rejected: "danger",
    paused: "warn",
    disabled: "danger",
  }[x.status] as "ok" | "warn" | "danger" | undefined;
  return (
    <section className="templates-standing" aria-label={t.status}>
      <div role="status">
        <Note tone={tone}>
          <p>
            <b>{t[`is_${x.status}`]}</b>
          </p>
          {what && <p>{what}</p>}
          {words && (
            <p>
              {t.words}{" "}
              <English>
                <q>{words}</q>
              </English>
            </p>
          )}
          <p>{next || t[`next_${x.status}`]}</p>
        </Note>
      </div>
      {!!x.unsupported?.length && (
        <Note tone="warn">
          <p>{fill(t.unsupportedParts, { parts: x.unsupported.join(", ") })}</p>
        </Note>
      )}
      {x.category_change && <Coming category={x.category} change={x.category_change} />}
      {x.status === "pending" && x.provider === "sandbox" && write && <Review template={x} />}
    </section>
  );
}

/** Coming says that WhatsApp will move the template to another category. */
function Coming({ category, change }: { category: string; change: NonNullable<TemplateRow["category_change"]> }) {
  const t = useTexts(texts);
  const name = (c: string) => t[c as "UTILITY"] ?? c;
  const words = { from: name(category), to: name(change.to) };
  return (
    <Note tone="warn">
      <p>
        {fill(change.at ? t.comingAt : t.coming, words)} {change.at && <Ago at={change.at} />}
      </p>
    </Note>
  );
}

function Details({ template: x, others }: { template: TemplateRow; others: TemplateRow[] }) {
  const t = useTexts(texts);
  const language = useLanguage();
  return (
    <Card title={t.details}>
      <dl className="templates-details">
        <dt>{t.sender}</dt>
        <dd>
          {x.sender} <span className="muted">{phone(x.number)}</span>
        </dd>
        <dt>{t.id}</dt>
        <dd>
          <code>{x.id}</code>
          <Copy value={x.id} label={t.copyId} />
        </dd>
        {x.provider_id && x.provider_id !== x.id && (
          <>
            <dt>{t.providerId}</dt>
            <dd>
              <code>{x.provider_id}</code>
              <Copy value={x.provider_id} label={t.copyProviderId} />
            </dd>
          </>
        )}
        {x.quality && (
          <>
            <dt>{t.quality}</dt>
            <dd>{t[`quality_${x.quality}` as "quality_GREEN"] ?? x.quality}</dd>
          </>
        )}
        {x.message_send_ttl_seconds !== undefined && (
          <>
            <dt>{t.deadline}</dt>
            <dd>
              {x.message_send_ttl_seconds < 0
                ? t.deadlineLong
                : fill(t.deadlineSeconds, { n: number(x.message_send_ttl_seconds, language) })}
            </dd>
          </>
        )}
        <dt>{t.variables}</dt>
        <dd>
          {x.variables.length === 0 ? (
            <span className="muted">{t.noVariables}</span>
          ) : (
            <span className="tags">
              {x.variables.map((v) => (
                <code key={v} className="tag">
                  {v}
                </code>
              ))}
            </span>
          )}
        </dd>
        {others.length > 0 && (
          <>
            <dt>{t.otherLanguages}</dt>
            <dd>
              <span className="templates-others">
                {others.map((o) => (
                  <Link key={o.id} to="/templates/$id" params={{ id: o.id }}>
                    {languageName(o.language.replace("_", "-"), language)} <State status={o.status} />
                  </Link>
                ))}
              </span>
            </dd>
          </>
        )}
      </dl>
    </Card>
  );
}

/** Actions are what can be done with a template in its status. */
function Actions({ template: x, write }: { template: TemplateRow; write: boolean }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const can = useCan();
  const navigate = useNavigate();
  const { submit, remove } = useTemplateChanges();
  const [busy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    try {
      await submit(x.id);
      succeeded(t.submitted_told);
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  const edit = async () => {
    if (
      x.status === "pending" &&
      !(await confirm({ title: t.withdrawTitle, text: t.withdrawText, action: t.withdraw }))
    )
      return;
    void navigate({ to: "/templates/$id/edit", params: { id: x.id } });
  };
  const drop = async () => {
    await remove(x.id);
    succeeded(t.deleted);
    void navigate({ to: "/templates" });
  };
  const editable = x.status === "draft" || x.status === "rejected" || x.status === "pending";
  return (
    <>
      {write && editable && (
        <Button variant="default" leftSection={<IconPencil size={16} />} onClick={() => void edit()}>
          {s.edit}
        </Button>
      )}
      {write && x.status === "draft" && (
        <Button leftSection={<IconSend2 size={16} />} loading={busy} onClick={() => void send()}>
          {t.submit}
        </Button>
      )}
      {x.status === "approved" && !x.unsupported?.length && can("notifications:send") && (
        <Button
          leftSection={<IconSend size={16} />}
          renderRoot={(props) => <Link to="/send" search={{ template: x.id }} {...props} />}
        >
          {t.send}
        </Button>
      )}
      <More
        acts={[
          write && {
            label: t.copyLanguage,
            icon: <IconLanguage size={16} />,
            link: (props) => <Link to="/templates/new" search={{ copy: x.id }} {...props} />,
          },
          write && {
            label: t.delete,
            icon: <IconTrash size={16} />,
            danger: true,
            ask: {
              title: fill(t.deleteTitle, { name: x.name, language: x.language }),
              text: x.status !== "draft" || x.provider_id ? t.deleteThere : t.deleteHere,
            },
            run: drop,
          },
        ]}
      />
    </>
  );
}
