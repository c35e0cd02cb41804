import "./templates.css";
import { phone } from "../../ui/number";
import { Button, Select, TextInput } from "@mantine/core";
import { IconPlus, IconSearch, IconTemplate, IconX } from "@tabler/icons-react";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { languageName } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCan } from "../../session";
import { Needs } from "../../shell/states";
import { Ago } from "../../ui/Ago";
import { Card, Empty, Failed, Page, Rows } from "../../ui/parts";
import { useTyped } from "../../ui/typed";
import { addressOf, type Address } from "./address";
import { filtered, grouped } from "./list";
import { State } from "./State";
import { LastSync, SyncButton } from "./Sync";
import { texts } from "./texts";
import { statuses, type Status, type TemplateRow } from "./types";
import { useTemplates } from "./useTemplates";

export function TemplatesPage() {
  return (
    <Needs permission="templates:read">
      <Templates />
    </Needs>
  );
}

function Templates() {
  const t = useTexts(texts);
  const write = useCan()("templates:write");
  const all = useTemplates();
  return (
    <Page
      title={t.title}
      about={t.about}
      actions={
        write && (
          <>
            <SyncButton />
            <Button
              leftSection={<IconPlus size={16} />}
              renderRoot={(props) => <Link to="/templates/new" {...props} />}
            >
              {t.create}
            </Button>
          </>
        )
      }
    >
      {all.data ? (
        <List all={all.data} write={write} />
      ) : all.isError ? (
        <Card flush label={t.title}>
          <Failed error={all.error} retry={() => void all.refetch()} />
        </Card>
      ) : (
        <Rows n={6} />
      )}
    </Page>
  );
}

function List({ all, write }: { all: TemplateRow[]; write: boolean }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const navigate = useNavigate();
  const address = useSearch({ from: "/shell/templates" });
  const go = useCallback(
    (to: Partial<Address>) =>
      void navigate({ to: "/templates", replace: true, search: (now) => addressOf({ ...now, ...to }) }),
    [navigate],
  );
  const clear = () => go({ status: undefined, language: undefined, q: undefined });
  const groups = useMemo(() => grouped(filtered(all, address)), [all, address.status, address.language, address.q]);
  const languages = useMemo(() => [...new Set(all.map((x) => x.language))].sort(), [all]);
  const several = new Set(all.map((x) => x.sender)).size > 1;
  if (all.length === 0) {
    return (
      <Card flush label={t.title}>
        <Empty icon={<IconTemplate size={22} />} title={t.none} text={t.noneText}>
          {write && <Button renderRoot={(props) => <Link to="/templates/new" {...props} />}>{t.create}</Button>}
        </Empty>
      </Card>
    );
  }
  const counts = new Map<Status, number>();
  for (const x of all) counts.set(x.status, (counts.get(x.status) ?? 0) + 1);
  return (
    <>
      <div className="templates-filters" role="group" aria-label={t.filters}>
        <Search value={address.q ?? ""} change={(q) => go({ q: q || undefined })} />
        <Select
          aria-label={t.status}
          placeholder={t.anyStatus}
          value={address.status ?? null}
          onChange={(v) => go({ status: v ?? undefined })}
          clearable
          checkIconPosition="right"
          data={statuses.map((s) => ({ value: s, label: `${t[s]} (${counts.get(s) ?? 0})` }))}
        />
        <Select
          aria-label={t.language}
          placeholder={t.anyLanguage}
          value={address.language ?? null}
          onChange={(v) => go({ language: v ?? undefined })}
          clearable
          searchable={languages.length > 8}
          checkIconPosition="right"
          data={languages.map((l) => ({ value: l, label: languageName(l.replace("_", "-"), language) }))}
        />
        {Object.keys(address).length > 0 && (
          <Button variant="subtle" color="gray" leftSection={<IconX size={14} />} onClick={clear}>
            {t.clear}
          </Button>
        )}
      </div>
      <LastSync />
      <Card flush label={t.title}>
        {groups.length === 0 ? (
          <Empty icon={<IconSearch size={22} />} title={t.notFound} text={t.notFoundText}>
            <Button variant="default" onClick={clear}>
              {t.clear}
            </Button>
          </Empty>
        ) : (
          <div className="table-wrap">
            <table className="table templates-table">
              <thead>
                <tr>
                  <th>{t.name}</th>
                  <th>{t.language}</th>
                  <th>{t.status}</th>
                  <th className="wide-only">{t.category}</th>
                  {several && <th className="wide-only">{t.sender}</th>}
                  <th className="wide-only">{t.changed}</th>
                </tr>
              </thead>
              {groups.map((g) => (
                <tbody key={g[0]!.sender + "/" + g[0]!.name}>
                  {g.map((x, i) => (
                    <Row key={x.id} t={x} first={i === 0} of={g.length} several={several} />
                  ))}
                </tbody>
              ))}
            </table>
          </div>
        )}
      </Card>
    </>
  );
}

/** Row is one language of a template. Those of one name stand together, and only the first has the name. */
function Row({ t: x, first, of, several }: { t: TemplateRow; first: boolean; of: number; several: boolean }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const name = languageName(x.language.replace("_", "-"), language);
  return (
    <tr data-first={first ? "yes" : "no"}>
      <td>
        <Link className="row-title templates-link" to="/templates/$id" params={{ id: x.id }}>
          {first ? (
            x.name
          ) : (
            <span className="hidden">
              {x.name}, {name}
            </span>
          )}
        </Link>
        {first && of > 1 && <span className="templates-count small muted">{fill(t.languages, { n: of })}</span>}
        <span className="templates-body small muted" dir="auto">
          {x.body}
        </span>
      </td>
      <td>
        <span className="templates-language">{name}</span>
        <span className="small muted templates-code">{x.language}</span>
      </td>
      <td>
        <State status={x.status} />
      </td>
      <td className="wide-only">{t[x.category as "UTILITY"] ?? x.category}</td>
      {several && (
        <td className="wide-only">
          {x.sender}
          <span className="templates-second small muted">{phone(x.number)}</span>
        </td>
      )}
      <td className="wide-only">
        <Ago at={x.updated_at} />
      </td>
    </tr>
  );
}

/** Search looks in names and texts; the list follows when the typing pauses. */
function Search({ value, change }: { value: string; change: (q: string) => void }) {
  const t = useTexts(texts);
  const [text, setText] = useTyped(value, change, 200);
  return (
    <TextInput
      aria-label={t.search}
      placeholder={t.search}
      type="search"
      leftSection={<IconSearch size={15} />}
      value={text}
      maxLength={100}
      onChange={(e) => setText(e.currentTarget.value)}
    />
  );
}
