import { Button, Switch, TextInput } from "@mantine/core";
import { IconBell, IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { get, post, put, type Schemas } from "../../api";
import { browserName } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { Ago } from "../../ui/Ago";
import { More } from "../../ui/More";
import { Card, Failed, Note, Rows, Tag } from "../../ui/parts";
import { failed, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { Denied, subscribe, supported, unsubscribe } from "./push";
import { texts } from "./texts";

type Notices = Schemas["InboxNotices"];
type Choice = Schemas["InboxNoticeChoice"];

/** useNotices reads the settings of notices about conversations. */
export function useNotices() {
  const company = useCompany();
  const client = useQueryClient();
  const queryKey = [company.id, "inbox", "notices"];
  const query = useQuery({ queryKey, queryFn: ({ signal }) => get("/inbox/notices", {}, signal) });
  return { query, changed: () => client.invalidateQueries({ queryKey }) };
}

/** NoticesCard is how a teammate learns of visitors who wait. */
export function NoticesCard() {
  const t = useTexts(texts);
  const { query, changed } = useNotices();
  if (query.isPending) return <Rows n={2} />;
  if (query.isError)
    return (
      <Card title={t.title}>
        <Failed error={query.error} retry={() => void query.refetch()} />
      </Card>
    );
  const n = query.data;
  return (
    <Card title={t.title}>
      <div className="form">
        <p className="muted flat">{t.about}</p>
        <Choices key={JSON.stringify(n.choice)} notices={n} changed={changed} />
        <Browsers notices={n} changed={changed} />
      </div>
    </Card>
  );
}

interface Props {
  notices: Notices;
  changed(): Promise<void>;
}

function Choices({ notices, changed }: Props) {
  const t = useTexts(texts);
  const language = useLanguage();
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [c, set] = useState<Choice>(notices.choice);
  const [busy, setBusy] = useState(false);
  const save = async (to: Choice) => {
    set(to);
    setBusy(true);
    try {
      await put("/inbox/notices", { ...to, zone, language });
      succeeded(t.saved);
      await changed();
    } catch (e) {
      set(notices.choice);
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  const dirty = c.quiet_from !== notices.choice.quiet_from || c.quiet_to !== notices.choice.quiet_to;
  return (
    <>
      <Switch
        label={t.push}
        description={t.pushHelp}
        checked={c.push}
        disabled={busy}
        onChange={(e) => void save({ ...notices.choice, push: e.currentTarget.checked })}
      />
      <Switch
        label={t.mail}
        description={notices.mails ? t.mailHelp : t.noMail}
        checked={c.mail && notices.mails}
        disabled={busy || !notices.mails}
        onChange={(e) => void save({ ...notices.choice, mail: e.currentTarget.checked })}
      />
      <div role="group" aria-label={t.quiet}>
        <div className="field-label" aria-hidden="true">
          {t.quiet}
        </div>
        <p className="small muted flat">{fill(t.quietHelp, { zone: notices.choice.zone || zone })}</p>
        <div className="pair">
          <TextInput
            label={t.from}
            type="time"
            value={c.quiet_from}
            onChange={(e) => set({ ...c, quiet_from: e.currentTarget.value })}
          />
          <TextInput
            label={t.to}
            type="time"
            value={c.quiet_to}
            onChange={(e) => set({ ...c, quiet_to: e.currentTarget.value })}
          />
        </div>
        <div style={{ display: "flex", gap: 8, marginTop: 8 }}>
          <Button
            size="xs"
            variant="default"
            loading={busy}
            disabled={!dirty || !c.quiet_from !== !c.quiet_to}
            onClick={() => void save(c)}
          >
            {t.save}
          </Button>
          {notices.choice.quiet_from && (
            <Button
              size="xs"
              variant="subtle"
              onClick={() => void save({ ...notices.choice, quiet_from: "", quiet_to: "" })}
            >
              {t.clear}
            </Button>
          )}
        </div>
      </div>
    </>
  );
}

function Browsers({ notices, changed }: Props) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const language = useLanguage();
  const [busy, setBusy] = useState("");
  const [denied, setDenied] = useState(false);
  const here = notices.browsers.some((b) => b.current);
  const run = async (id: string, what: () => Promise<unknown>, text: string) => {
    setBusy(id);
    setDenied(false);
    try {
      await what();
      succeeded(text);
      await changed();
    } catch (e) {
      if (e instanceof Denied) setDenied(true);
      else if (e instanceof DOMException) failed(new Error(t.couldNot));
      else failed(e);
    } finally {
      setBusy("");
    }
  };
  return (
    <div>
      {notices.browsers.length > 0 && (
        <div className="table-wrap">
          <table className="table">
            <thead>
              <tr>
                <th>{t.browser}</th>
                <th className="wide-only">{t.added}</th>
                <th>
                  <span className="hidden">{s.actions}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {notices.browsers.map((b) => (
                <tr key={b.id}>
                  <td>
                    <span className="row-title">{browserName(b.agent)}</span>{" "}
                    {b.current && <Tag tone="ok">{t.here}</Tag>}
                  </td>
                  <td className="wide-only">
                    <Ago at={b.created_at} />
                  </td>
                  <td>
                    <More
                      of={browserName(b.agent)}
                      acts={[
                        {
                          label: t.test,
                          icon: <IconBell size={16} />,
                          run: () => run(b.id, () => post(`/inbox/browsers/${b.id}/test`), t.tested),
                        },
                        {
                          label: t.remove,
                          icon: <IconTrash size={16} />,
                          danger: true,
                          ask: { title: fill(t.removeTitle, { browser: browserName(b.agent) }), text: t.removeText },
                          run: () => run(b.id, () => unsubscribe(b.id, b.current), t.off),
                        },
                      ]}
                    />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {!here && !supported() && (
        <Note>
          <p>{t.unsupported}</p>
        </Note>
      )}
      {denied && (
        <Note tone="warn">
          <p role="alert">{t.denied}</p>
        </Note>
      )}
      {!here && supported() && (
        <Button
          variant="default"
          size="sm"
          mt={8}
          loading={busy === "on"}
          onClick={() => void run("on", () => subscribe(notices.push_key, language), t.on)}
        >
          {t.turnOn}
        </Button>
      )}
    </div>
  );
}
