import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { IconDownload, IconSearch, IconTrash, IconUserOff } from "@tabler/icons-react";
import { useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { sound, send } from "../../api";
import { number } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { Needs } from "../../shell/states";
import { Card, Empty, Note, Page, Tag } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { shared } from "../../ui/texts";
import "./people.css";
import { texts } from "./texts";
import { whoOf, wordOf, type Who } from "./who";

interface Contact {
  id: string;
  name: string;
  email: string;
  number: string;
  user_id: string;
  username: string;
}
interface Found {
  identities: string[];
  contacts: Contact[];
  conversations: number;
  notifications: number;
  calls: number;
}
interface Erasure {
  hash: string;
  rows: Record<string, number>;
}

/** maxWait is how long an export or an erasure may take. */
const maxWait = 10 * 60_000;

export function PeoplePage() {
  const { contact = "" } = useSearch({ from: "/shell/people" });
  return (
    <Needs permission="settings:write">
      <People key={contact} contact={contact} />
    </Needs>
  );
}

/** People finds a person who is typed in, or a contact that the address names. */
function People({ contact }: { contact: string }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const [typed, setTyped] = useState(contact);
  const [bad, setBad] = useState(false);
  const [busy, setBusy] = useState(false);
  const [who, setWho] = useState<Who | null>(null);
  const [found, setFound] = useState<Found | null>(null);
  const [erasure, setErasure] = useState<Erasure | null>(null);
  const clear = () => {
    setTyped("");
    setWho(null);
    setFound(null);
    setErasure(null);
  };
  const find = async () => {
    const given = whoOf(typed);
    setBad(given === null);
    if (given === null) return;
    setBusy(true);
    try {
      setFound(await send("post", "/people", { body: given }));
      setWho(given);
      setErasure(null);
    } catch (error) {
      failed(error);
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => {
    if (contact) void find();
  }, []); // once for an address
  return (
    <Page title={t.title} about={t.about}>
      <Stack>
        <Card label={t.find}>
          <h2 className="hidden">{t.find}</h2>
          <form
            onSubmit={(e) => {
              e.preventDefault();
              void find();
            }}
            noValidate
            className="people-form"
          >
            <TextInput
              label={t.label}
              description={bad ? undefined : t.help}
              value={typed}
              error={bad ? t.bad : undefined}
              inputWrapperOrder={["label", "input", "description", "error"]}
              autoComplete="off"
              onChange={(e) => {
                setTyped(e.currentTarget.value);
                setBad(false);
              }}
            />
            <Button type="submit" loading={busy} disabled={!typed.trim()} leftSection={<IconSearch size={16} />}>
              {t.find}
            </Button>
          </form>
        </Card>
        {erasure && (
          <Card title={t.erased}>
            <Done erasure={erasure} />
            <Group>
              <Button variant="default" onClick={clear}>
                {t.again}
              </Button>
            </Group>
          </Card>
        )}
        {found && who && !erasure && (
          <Person key={wordOf(who, [])} who={who} found={found} close={s.close} erased={setErasure} />
        )}
      </Stack>
    </Page>
  );
}

function Done({ erasure }: { erasure: Erasure }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const n = Object.values(erasure.rows).reduce((sum, x) => sum + x, 0);
  return (
    <Note tone="ok">
      <p className="people-done">{fill(t.erasedText, { n: number(n, language), hash: erasure.hash })}</p>
    </Note>
  );
}

function Person({
  who,
  found,
  close,
  erased,
}: {
  who: Who;
  found: Found;
  close: string;
  erased: (e: Erasure) => void;
}) {
  const t = useTexts(texts);
  const language = useLanguage();
  const [asking, setAsking] = useState(false);
  const [exporting, setExporting] = useState(false);
  const nothing = found.contacts.length + found.conversations + found.notifications + found.calls === 0;
  const keep = async () => {
    setExporting(true);
    try {
      const bytes = await sound("/people/export", who, AbortSignal.timeout(maxWait));
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([bytes], { type: "application/zip" }));
      link.download = "person.zip";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 0);
    } catch (error) {
      failed(error);
    } finally {
      setExporting(false);
    }
  };
  return (
    <Card title={t.found}>
      {nothing ? (
        <Empty icon={<IconUserOff size={22} />} title={t.nothing} text={t.nothingText} />
      ) : (
        <dl className="people-facts">
          <dt>{t.identities}</dt>
          <dd>
            <div className="tags">
              {found.identities.map((x) => (
                <Tag key={x}>{x}</Tag>
              ))}
            </div>
          </dd>
          <dt>{t.contacts}</dt>
          <dd>
            {found.contacts.length === 0 ? (
              "0"
            ) : (
              <ul>
                {found.contacts.map((c) => (
                  <li key={c.id}>
                    {c.name || t.noName}
                    {[c.number || c.user_id, c.username, c.email].filter(Boolean).map((x) => (
                      <span key={x} className="small muted">
                        {" "}
                        · {x}
                      </span>
                    ))}
                  </li>
                ))}
              </ul>
            )}
          </dd>
          <dt>{t.conversations}</dt>
          <dd>{number(found.conversations, language)}</dd>
          <dt>{t.notifications}</dt>
          <dd>{number(found.notifications, language)}</dd>
          <dt>{t.calls}</dt>
          <dd>{number(found.calls, language)}</dd>
        </dl>
      )}
      <Group>
        {!nothing && (
          <Button
            variant="default"
            loading={exporting}
            leftSection={<IconDownload size={16} />}
            onClick={() => void keep()}
          >
            {t.export}
          </Button>
        )}
        <Button color="red" variant="light" leftSection={<IconTrash size={16} />} onClick={() => setAsking(true)}>
          {t.erase}
        </Button>
      </Group>
      <Erase
        who={who}
        word={wordOf(who, found.identities)}
        opened={asking}
        label={close}
        close={() => setAsking(false)}
        erased={erased}
      />
    </Card>
  );
}

/** Erase asks for the number or id again: nothing brings the person's data back. */
function Erase({
  who,
  word,
  opened,
  label,
  close,
  erased,
}: {
  who: Who;
  word: string;
  opened: boolean;
  label: string;
  close: () => void;
  erased: (e: Erasure) => void;
}) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = async () => {
    if (typed.trim() !== word) return;
    setBusy(true);
    try {
      const result = await send("post", "/people/erase", { body: who, signal: AbortSignal.timeout(maxWait) });
      close();
      erased(result);
    } catch (error) {
      failed(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      opened={opened}
      onClose={busy ? () => undefined : close}
      onExitTransitionEnd={() => setTyped("")}
      title={t.eraseTitle}
      closeButtonProps={{ "aria-label": label }}
      size={480}
    >
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void submit();
        }}
        noValidate
      >
        <Stack>
          <Note tone="danger">
            <p className="people-done">{t.eraseText}</p>
          </Note>
          <TextInput
            label={fill(t.typed, { word })}
            value={typed}
            autoComplete="off"
            data-autofocus
            onChange={(e) => setTyped(e.currentTarget.value)}
          />
          {busy && (
            <p className="small muted people-done" role="status">
              {t.working}
            </p>
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close} disabled={busy}>
              {s.cancel}
            </Button>
            <Button type="submit" color="red" loading={busy} disabled={typed.trim() !== word}>
              {t.erase}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
