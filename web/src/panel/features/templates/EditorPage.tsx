import "./templates.css";
import { Button } from "@mantine/core";
import { IconPlugConnectedX, IconTemplateOff } from "@tabler/icons-react";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useState } from "react";
import { Problem } from "../../api";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Needs } from "../../shell/states";
import { Card, Empty, Failed, Page, Rows, ToList } from "../../ui/parts";
import { Editor } from "./Editor";
import { editorTexts, texts } from "./texts";
import { emptyForm, formOf, type Form } from "./form";
import { usual } from "./languages";
import { editable, type MessagingSender, type TemplateRow } from "./types";
import { useMessagingSenders, useTemplate } from "./useTemplates";

/** NewPage writes a new template, or another one's copy in another language. */
export function NewPage() {
  const { copy } = useSearch({ from: "/shell/templates/new" });
  return <Needs permission="templates:write">{copy ? <Copied key={copy} id={copy} /> : <New />}</Needs>;
}

/** EditPage changes a template. */
export function EditPage() {
  const { id } = useParams({ from: "/shell/templates/$id/edit" });
  return (
    <Needs permission="templates:write">
      <Edited key={id} id={id} />
    </Needs>
  );
}

function New() {
  const language = useLanguage();
  return (
    <WithSenders
      title="create"
      make={(senders) => ({
        ...emptyForm(usual[language] ?? "en"),
        sender: (senders.find((s) => s.default) ?? senders[0])!.id,
      })}
      name="new"
    />
  );
}

function Copied({ id }: { id: string }) {
  return (
    <Found id={id} title="create">
      {(x) => (
        <WithSenders title="create" name={"copy." + id} copied={x} make={() => ({ ...formOf(x), language: "" })} />
      )}
    </Found>
  );
}

/** WithSenders is the editor of a new template, once it is known who may send it. */
function WithSenders({
  title,
  make,
  name,
  copied,
}: {
  title: "create";
  make: (senders: MessagingSender[]) => Form;
  name: string;
  copied?: TemplateRow;
}) {
  const t = useTexts(texts);
  const e = useTexts(editorTexts);
  const senders = useMessagingSenders();
  const back = { to: "/templates", text: t.title };
  if (!senders.data)
    return (
      <Page title={t[title]} back={back}>
        {senders.isError ? (
          <Card flush label={t[title]}>
            <Failed error={senders.error} retry={() => void senders.refetch()} />
          </Card>
        ) : (
          <Rows />
        )}
      </Page>
    );
  if (senders.data.length === 0)
    return (
      <Page title={t[title]} back={back}>
        <Card flush label={t[title]}>
          <Empty icon={<IconPlugConnectedX size={22} />} title={e.noSender} text={e.noSenderText} />
        </Card>
      </Page>
    );
  return (
    <Editor
      initial={make(senders.data)}
      senders={senders.data}
      name={name}
      copied={copied}
      title={copied ? fill(e.copyOf, { name: copied.name }) : t.create}
      back={back}
    />
  );
}

/** Opened calls back once its editor is there: from then on it stays, whatever becomes of the template. */
function Opened({ open, children }: { open: () => void; children: React.ReactNode }) {
  useEffect(open, [open]);
  return children;
}

function Edited({ id }: { id: string }) {
  const t = useTexts(texts);
  const e = useTexts(editorTexts);
  const [opened, setOpened] = useState(false);
  const open = useCallback(() => setOpened(true), []);
  return (
    <Found id={id} title="template">
      {(x) => {
        const back = { to: "/templates/" + x.id, text: x.name };
        if (opened || editable(x))
          return (
            <Opened open={open}>
              <Editor
                stored={x}
                initial={formOf(x)}
                senders={[]}
                name={x.id}
                title={fill(e.editOf, { name: x.name })}
                back={back}
              />
            </Opened>
          );
        return (
          <Page title={x.name} back={back}>
            <Card flush label={x.name}>
              <Empty
                icon={<IconTemplateOff size={22} />}
                title={fill(e.notEditable, { status: t[x.status] })}
                text={e.notEditableText}
              >
                <Button renderRoot={(props) => <Link to="/templates/new" search={{ copy: x.id }} {...props} />}>
                  {t.copyLanguage}
                </Button>
              </Empty>
            </Card>
          </Page>
        );
      }}
    </Found>
  );
}

function Found({
  id,
  title,
  children,
}: {
  id: string;
  title: "create" | "template";
  children: (x: TemplateRow) => React.ReactNode;
}) {
  const t = useTexts(texts);
  const one = useTemplate(id);
  if (one.data && !one.isPlaceholderData) return <>{children(one.data)}</>;
  const gone = one.error instanceof Problem && one.error.status === 404;
  return (
    <Page title={t[title]} back={{ to: "/templates", text: t.title }}>
      {gone ? (
        <Card flush label={t[title]}>
          <Empty icon={<IconTemplateOff size={22} />} title={t.gone} text={t.goneText}>
            <ToList />
          </Empty>
        </Card>
      ) : one.isError ? (
        <Card flush label={t[title]}>
          <Failed error={one.error} retry={() => void one.refetch()} />
        </Card>
      ) : (
        <Rows />
      )}
    </Page>
  );
}
