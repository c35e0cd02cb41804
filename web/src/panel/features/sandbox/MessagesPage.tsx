import { phone as grouped } from "../../ui/number";
import { Select, Switch, TextInput } from "@mantine/core";
import { IconMessage, IconMessageOff } from "@tabler/icons-react";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useTexts } from "../../i18n";
import { useCan, useCompany } from "../../session";
import { Needs } from "../../shell/states";
import type { HandsetNumbers } from "./types";
import { Card, Empty, Failed, Page, Rows } from "../../ui/parts";
import { failed } from "../../ui/problem";
import { useTyped } from "../../ui/typed";
import { Handset } from "./Handset";
import { phoneTexts as texts, texts as sandboxTexts } from "./texts";
import { Tabs } from "./Tabs";
import { phoneIn, useHandset, useHandsetActions, useNumbers } from "./useHandset";

/** Chosen is which phone the address names. */
export interface Chosen {
  sender?: string;
  number?: string;
}

export function MessagesPage() {
  return (
    <Needs permission="conversations:read">
      <Messages />
    </Needs>
  );
}

function Messages() {
  const t = useTexts(texts);
  const s = useTexts(sandboxTexts);
  const chosen = useSearch({ from: "/shell/sandbox/messages" }) as Chosen;
  const [first, setFirst] = useState("");
  const sender = chosen.sender || first;
  const numbers = useNumbers(sender);
  useEffect(() => {
    if (!first && numbers.data?.senders[0]) setFirst(numbers.data.senders[0].id);
  }, [first, numbers.data]);
  return (
    <Page title={s.title} about={t.about}>
      <Tabs at="messages" />
      {!numbers.data ? (
        numbers.isError ? (
          <Failed error={numbers.error} retry={() => void numbers.refetch()} />
        ) : (
          <Rows n={3} />
        )
      ) : numbers.data.senders.length === 0 ? (
        <Card flush label={t.messages}>
          <Empty icon={<IconMessageOff size={22} />} title={t.none} text={t.noneText} />
        </Card>
      ) : (
        <Phone known={numbers.data} sender={sender} number={chosen.number ?? ""} />
      )}
    </Page>
  );
}

function Phone({ known, sender, number }: { known: HandsetNumbers; sender: string; number: string }) {
  const t = useTexts(texts);
  const navigate = useNavigate();
  const company = useCompany();
  const may = useCan()("notifications:send");
  const phone = useHandset(sender, number);
  const actions = useHandsetActions(sender, number);
  const [name, setName] = useState("Ana");
  const go = (to: Chosen) => {
    void navigate({ to: "/sandbox/messages", replace: true, search: (now: object) => ({ ...now, ...to }) });
  };
  const [typed, type] = useTyped(
    number,
    (to) => go({ sender, number: to }),
    150,
    (s) => phoneIn(s) || undefined,
  );
  return (
    <div className="handset-page">
      <div className="stack">
        <Card label={t.number}>
          <h2 className="hidden">{t.number}</h2>
          <div className="stack" style={{ gap: 12 }}>
            {known.senders.length > 1 && (
              <Select
                label={t.sender}
                allowDeselect={false}
                data={known.senders.map((x) => ({ value: x.id, label: `${grouped(x.number)} (${x.id})` }))}
                value={sender}
                onChange={(v) => go({ sender: v ?? sender })}
              />
            )}
            <TextInput
              label={t.number}
              description={t.numberHelp}
              autoComplete="off"
              spellCheck={false}
              value={typed}
              maxLength={40}
              error={typed && !phoneIn(typed) ? t.badNumber : undefined}
              onChange={(e) => type(e.currentTarget.value)}
            />
            {known.numbers.length > 0 && (
              <div>
                <p className="small muted" style={{ margin: "0 0 6px" }}>
                  {t.last}
                </p>
                <ul className="handset-last">
                  {known.numbers.map((n) => (
                    <li key={n}>
                      <button type="button" aria-pressed={n === number} onClick={() => type(n)}>
                        {grouped(n)}
                      </button>
                    </li>
                  ))}
                </ul>
              </div>
            )}
            {may && (
              <TextInput
                label={t.name}
                description={t.nameHelp}
                value={name}
                maxLength={100}
                onChange={(e) => setName(e.currentTarget.value)}
              />
            )}
            {may && phone.data && (
              <Switch
                label={t.reach}
                description={t.reachHelp}
                checked={!phone.data.unreachable}
                onChange={(e) => void actions.setReachable(e.currentTarget.checked).catch(failed)}
              />
            )}
          </div>
        </Card>
      </div>
      {!phoneIn(number) ? (
        <Card flush label={t.messages}>
          <Empty icon={<IconMessage size={22} />} title={t.choose} text={t.chooseText} />
        </Card>
      ) : phone.data ? (
        <Handset phone={phone.data} title={company.name} name={name} may={may} t={t} />
      ) : phone.isError ? (
        <Failed error={phone.error} retry={() => void phone.refetch()} />
      ) : (
        <Rows n={4} />
      )}
    </div>
  );
}
