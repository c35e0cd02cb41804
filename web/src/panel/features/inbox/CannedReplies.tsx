import { why } from "../../ui/problem";
import { ActionIcon, Button, Modal, Textarea, TextInput } from "@mantine/core";
import { IconPencil, IconTrash } from "@tabler/icons-react";
import { useEffect, useState, type FormEvent, type ReactNode } from "react";
import type { Snapshot } from "./snapshot";
import type { Inbox } from "./store";
import { fill } from "../../i18n";
import type { InboxTexts } from "./texts";
import type { CannedReply } from "./types";

interface Props {
  opened: boolean;
  /** Whether it opens with a new reply. */
  creates: boolean;
  close(): void;
  inbox: Inbox;
  state: Snapshot;
  t: InboxTexts;
  insert(r: CannedReply): void;
  toast(message: ReactNode, problem?: boolean): void;
}
type Draft = { id?: string; shortcut: string; text: string };

/** CannedReplies is where the company's canned replies are chosen, written and deleted. */
export function CannedReplies({ opened, creates, close, inbox, state, t, insert, toast }: Props) {
  const [draft, setDraft] = useState<Draft | null>(null);
  useEffect(() => {
    if (opened && creates) setDraft({ shortcut: "", text: "" });
  }, [opened, creates]);
  const [problem, setProblem] = useState<ReactNode>("");
  const [removing, setRemoving] = useState<CannedReply | null>(null);
  const save = async (e: FormEvent) => {
    e.preventDefault();
    if (!draft) return;
    try {
      await inbox.saveCanned(draft);
      setDraft(null);
      setProblem("");
    } catch (x) {
      setProblem(why(x));
    }
  };
  const remove = async (r: CannedReply) => {
    setRemoving(null);
    await inbox.removeCanned(r.id).catch((x: unknown) => toast(why(x), true));
  };
  const valid = draft && /^[a-z0-9_-]{1,40}$/.test(draft.shortcut) && draft.text.trim();
  return (
    <Modal
      opened={opened}
      onClose={() => {
        setDraft(null);
        setRemoving(null);
        close();
      }}
      title={t.canned}
      size="lg"
    >
      {draft ? (
        <form onSubmit={(e) => void save(e)} className="inbox-form">
          <TextInput
            label={t.shortcut}
            description={t.shortcutHint}
            leftSection="/"
            value={draft.shortcut}
            onChange={(e) => setDraft({ ...draft, shortcut: e.currentTarget.value.toLowerCase() })}
            error={problem || undefined}
            data-autofocus
            maxLength={40}
          />
          <Textarea
            label={t.text}
            value={draft.text}
            onChange={(e) => setDraft({ ...draft, text: e.currentTarget.value })}
            autosize
            minRows={4}
            maxRows={12}
            maxLength={4000}
          />
          <div className="inbox-buttons">
            <Button
              variant="default"
              onClick={() => {
                setDraft(null);
                setProblem("");
              }}
            >
              {t.cancel}
            </Button>
            <Button type="submit" disabled={!valid}>
              {t.save}
            </Button>
          </div>
        </form>
      ) : removing ? (
        <>
          <p className="inbox-ask">{fill(t.removeAsk, { name: removing.shortcut })}</p>
          <div className="inbox-buttons">
            <Button variant="default" onClick={() => setRemoving(null)}>
              {t.cancel}
            </Button>
            <Button color="red" onClick={() => void remove(removing)}>
              {t.remove}
            </Button>
          </div>
        </>
      ) : (
        <>
          {state.canned.length === 0 && <p className="inbox-muted">{t.cannedNone}</p>}
          <ul className="inbox-canned-list">
            {state.canned.map((r) => (
              <li key={r.id}>
                <button type="button" onClick={() => insert(r)} aria-label={`${t.insert} /${r.shortcut}`}>
                  <b>/{r.shortcut}</b>
                  <span>{r.text}</span>
                </button>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`${t.edit} /${r.shortcut}`}
                  onClick={() => setDraft({ ...r })}
                >
                  <IconPencil size={16} />
                </ActionIcon>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  aria-label={`${t.remove} /${r.shortcut}`}
                  onClick={() => setRemoving(r)}
                >
                  <IconTrash size={16} />
                </ActionIcon>
              </li>
            ))}
          </ul>
          <div className="inbox-buttons">
            <Button onClick={() => setDraft({ shortcut: "", text: "" })}>{t.cannedAdd}</Button>
          </div>
        </>
      )}
    </Modal>
  );
}
