import { ActionIcon, Button, Modal, Textarea, Tooltip } from "@mantine/core";
import { IconMessage2Bolt, IconPaperclip, IconPhoneCalling, IconPhonePlus } from "@tabler/icons-react";
import { useImperativeHandle, useRef, useState, type KeyboardEvent, type Ref, type ReactNode } from "react";
import { CannedReplies } from "./CannedReplies";
import { draftOf, keepDraft } from "./drafts";
import { enclosedTexts, type InboxTexts } from "./texts";
import { hidesNumber, isGroup, matching, nameOf } from "./model";
import type { Loaded, Snapshot } from "./snapshot";
import type { Inbox } from "./store";
import { fill, useTexts } from "../../i18n";
import { TemplatePicker } from "./TemplatePicker";
import type { Mode } from "./Thread";
import type { CannedReply } from "./types";
import { useClosed, WindowClock } from "./WindowClock";
import type { Act } from "./acts";

const maxText = 4000;

/** Reach says where a reply goes when the visitor of a page has left. */
function Reach({ thread, t }: { thread: Loaded; t: InboxTexts }) {
  const { reach, contact, conversation } = thread;
  if (!reach || reach.connected || conversation.state === "bot") return null;
  const text = !reach.by_mail ? t.leftStays : contact.email ? fill(t.leftMail, { email: contact.email }) : t.leftNoMail;
  return <p className="inbox-hint">{text}</p>;
}

interface Props {
  inbox: Inbox;
  state: Snapshot;
  thread: Loaded;
  t: InboxTexts;
  act: Act;
  toast(message: ReactNode, problem?: boolean): void;
  ref?: Ref<{ focus(mode: Mode): void }>;
}

/** Composer is where a teammate answers, or writes a note. What is begun stays with its conversation. */
export function Composer({ inbox, state, thread, t, act, toast, ref }: Props) {
  const c = thread.conversation;
  const [mode, setMode] = useState<Mode>("reply");
  const [text, setText] = useState(() => draftOf(c.id));
  const [busy, setBusy] = useState(false);
  const [chosen, setChosen] = useState(0);
  const [managing, setManaging] = useState<"list" | "new" | null>(null);
  const [warning, setWarning] = useState<{ kind: "answered" } | { kind: "taken"; by: string } | null>(null);
  // What the company had said when the teammate began to write: a newer answer is warned of.
  const seen = useRef<number | undefined>(undefined);
  // Messages sent while another one is on its way: they follow it in order.
  const waiting = useRef<{ said: string; mode: Mode }[]>([]);
  const here = () => inbox.snapshot().thread?.conversation.id === c.id;
  const closed = useClosed(thread.window);
  const group = isGroup(thread.contact);
  const e = useTexts(enclosedTexts);
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  useImperativeHandle(
    ref,
    () => ({
      focus: (to) => {
        setMode(to);
        area.current?.focus();
      },
    }),
    [],
  );

  const locked = mode === "reply" && c.channel === "whatsapp" && closed;
  const offered = mode === "reply" ? matching(state.canned, text) : [];
  const none = mode === "reply" && text === "/" && state.canned.length === 0;
  const over = [...text].length - maxText;
  const assignee = state.teammates.find((x) => x.account_id === c.assignee);
  const name = nameOf(thread.contact, thread.contact.id, t.visitor);

  const write = (to: string) => {
    if (to && !text) seen.current = c.company_seq;
    setText(to);
    setChosen(0);
    keepDraft(c.id, to);
    if (to && mode === "reply") inbox.typing();
  };
  const insert = (r: CannedReply) => {
    const filled = r.text.replaceAll("{name}", thread.contact.name || "").replaceAll("  ", " ");
    write(filled);
    area.current?.focus();
  };
  const send = async (anyway = false, asks?: "number" | "calls") => {
    const usual = { number: t.askNumberText, calls: t.askCallsText };
    const said = text.trim() || (asks ? usual[asks] : "");
    if (!said || over > 0 || (busy && asks)) return;
    area.current?.focus(); // at once: whoever leaves the box before the answer is there has left it
    setText(""); // what is written from now on is another message, perhaps of the other kind
    if (busy) {
      waiting.current.push({ said, mode });
      keepDraft(c.id, waiting.current.map((w) => w.said).join("\n"));
      return;
    }
    setBusy(true);
    setWarning(null);
    const since = anyway ? undefined : (seen.current ?? c.company_seq);
    let sent = await (asks ? inbox.ask(asks, said, since) : inbox.say(said, mode === "note", since));
    let last = { said, mode };
    for (let next = waiting.current[0]; next && sent.result === "sent" && here(); next = waiting.current[0]) {
      last = next;
      waiting.current.shift();
      sent = await inbox.say(next.said, next.mode === "note", undefined); // behind a message that nothing stood against
    }
    setBusy(false);
    const unsent = [...(sent.result === "sent" ? [] : [last]), ...waiting.current.splice(0)];
    if (unsent.length > 0)
      back(unsent.map((u) => u.said).join("\n"), unsent.some((u) => u.mode === "note") ? "note" : "reply");
    switch (sent.result) {
      case "sent":
        if (unsent.length === 0) keepDraft(c.id, area.current?.value ?? "");
        seen.current = undefined;
        break;
      case "closed":
        break; // the thread is read again, and says so
      case "failed":
        toast(sent.why || t.notSent, true);
        break;
      default:
        setWarning(sent.result === "taken" ? { kind: "taken", by: sent.by || t.someone } : { kind: "answered" });
    }
  };
  /** back returns a text that was not sent to the box. Together with a text of the other kind it becomes a note, which nobody outside sees. */
  const back = (said: string, as: Mode) => {
    const written = area.current?.value ?? "";
    const all = written ? said + "\n" + written : said;
    setText(all);
    keepDraft(c.id, all);
    setMode((now) => (written && now !== as ? "note" : as));
  };
  const sendFiles = async (files: Iterable<File>) => {
    for (const file of files) {
      const sent = await inbox.sendFile(file);
      if (sent.result === "closed") return;
      if (sent.result === "taken") toast(fill(t.wasTaken, { name: sent.by || t.someone }), true);
      else if (sent.result !== "sent")
        toast(
          <>
            {file.name}: {(sent.result === "failed" && sent.why) || t.notSent}
          </>,
          true,
        );
    }
  };
  const takeAndSend = async () => {
    setWarning(null);
    await act("take", { from: inbox.snapshot().thread?.conversation.assignee ?? "" });
    await send(true);
  };
  const keys = (e: KeyboardEvent<HTMLTextAreaElement>) => {
    if (offered.length > 0) {
      if (e.key === "ArrowDown" || e.key === "ArrowUp") {
        e.preventDefault();
        setChosen((chosen + (e.key === "ArrowDown" ? 1 : offered.length - 1)) % offered.length);
        return;
      }
      if (e.key === "Enter" || e.key === "Tab") {
        e.preventDefault();
        insert(offered[chosen] ?? offered[0]!);
        return;
      }
      if (e.key === "Escape") {
        e.preventDefault();
        e.stopPropagation();
        write("");
        return;
      }
    }
    if (e.key === "Enter" && !e.shiftKey && !e.nativeEvent.isComposing) {
      e.preventDefault();
      void send();
    }
  };

  return (
    <div
      className="inbox-composer"
      data-mode={mode}
      onDragOver={(e) => {
        if (mode === "reply" && e.dataTransfer.types.includes("Files")) e.preventDefault();
      }}
      onDrop={(e) => {
        if (mode === "reply" && e.dataTransfer.files.length > 0) {
          e.preventDefault();
          void sendFiles(e.dataTransfer.files);
        }
      }}
    >
      {mode === "reply" && c.state === "bot" && !group && <p className="inbox-hint">{t.takesOver}</p>}
      {mode === "reply" && c.assignee && c.assignee !== inbox.me && (
        <p className="inbox-hint">{fill(t.others, { name: assignee?.name ?? t.someone })}</p>
      )}
      {mode === "reply" && !locked && <Reach thread={thread} t={t} />}
      <div className="inbox-modes">
        <div className="inbox-modes" role="tablist">
          {(["reply", "note"] as const).map((m) => (
            <button
              key={m}
              type="button"
              role="tab"
              aria-selected={mode === m}
              onClick={() => {
                setMode(m);
                area.current?.focus();
              }}
            >
              {m === "reply" ? t.reply : t.internal}
            </button>
          ))}
        </div>
        {c.channel === "whatsapp" && !group && <WindowClock window={thread.window} />}
      </div>
      {locked &&
        (group ? (
          <p className="inbox-hint">{e.noReply}</p>
        ) : (
          <TemplatePicker inbox={inbox} thread={thread} toast={toast} />
        ))}
      {offered.length > 0 && (
        <ul id="inbox-canned" role="listbox" aria-label={t.canned} className="inbox-canned">
          {offered.map((r, i) => (
            <li
              key={r.id}
              id={`inbox-canned-${i}`}
              role="option"
              aria-selected={i === chosen}
              onMouseDown={(e) => {
                e.preventDefault();
                insert(r);
              }}
            >
              <b>/{r.shortcut}</b>
              <span>{r.text}</span>
            </li>
          ))}
        </ul>
      )}
      {none && (
        <div className="inbox-canned inbox-canned-none" role="status">
          <span>{t.cannedNone}</span>
          <Button size="compact-sm" variant="light" onClick={() => setManaging("new")}>
            {t.cannedCreate}
          </Button>
        </div>
      )}
      {!locked && (
        <Textarea
          ref={area}
          value={text}
          onChange={(e) => write(e.currentTarget.value)}
          onKeyDown={keys}
          autosize
          onPaste={(e) => {
            if (mode === "reply" && e.clipboardData.files.length > 0) {
              e.preventDefault();
              void sendFiles(e.clipboardData.files);
            }
          }}
          minRows={2}
          maxRows={10}
          variant="unstyled"
          aria-label={mode === "note" ? t.internal : t.reply}
          placeholder={mode === "note" ? t.noteHint : fill(t.replyTo, { name })}
          role={offered.length ? "combobox" : undefined}
          aria-expanded={offered.length ? true : undefined}
          aria-controls={offered.length ? "inbox-canned" : undefined}
          aria-activedescendant={offered.length ? `inbox-canned-${chosen}` : undefined}
        />
      )}
      {!locked && (
        <div className="inbox-send">
          <Tooltip label={`${t.canned} (/)`}>
            <ActionIcon variant="subtle" color="gray" aria-label={t.canned} onClick={() => setManaging("list")}>
              <IconMessage2Bolt size={18} stroke={1.7} />
            </ActionIcon>
          </Tooltip>
          {mode === "reply" && (
            <Tooltip label={t.attach}>
              <ActionIcon variant="subtle" color="gray" aria-label={t.attach} onClick={() => picker.current?.click()}>
                <IconPaperclip size={18} stroke={1.7} />
              </ActionIcon>
            </Tooltip>
          )}
          {mode === "reply" && c.channel === "whatsapp" && !group && (
            <Tooltip label={t.askCalls}>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t.askCalls}
                onClick={() => void send(false, "calls")}
              >
                <IconPhoneCalling size={18} stroke={1.7} />
              </ActionIcon>
            </Tooltip>
          )}
          {mode === "reply" && c.channel === "whatsapp" && !group && hidesNumber(thread) && (
            <Tooltip label={t.askNumber}>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t.askNumber}
                onClick={() => void send(false, "number")}
              >
                <IconPhonePlus size={18} stroke={1.7} />
              </ActionIcon>
            </Tooltip>
          )}
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-hidden="true"
            tabIndex={-1}
            onChange={(e) => {
              void sendFiles([...(e.currentTarget.files ?? [])]);
              e.currentTarget.value = "";
            }}
          />
          <span className="inbox-muted">
            {over > 0 ? <span className="inbox-problem">{fill(t.tooLong, { n: over })}</span> : t.cannedHint}
          </span>
          <Button size="xs" onClick={() => void send()} disabled={!text.trim() || over > 0} loading={busy}>
            {mode === "note" ? t.addNote : t.send}
          </Button>
        </div>
      )}
      <Modal
        opened={warning !== null}
        onClose={() => setWarning(null)}
        title={warning?.kind === "taken" ? t.taken : t.answered}
        centered
      >
        <p className="inbox-ask">
          {warning?.kind === "taken" ? fill(t.takenText, { name: warning.by }) : t.answeredText}
        </p>
        <div className="inbox-buttons">
          <Button
            variant="default"
            onClick={() => {
              seen.current = c.company_seq;
              setWarning(null);
            }}
          >
            {t.keep}
          </Button>
          {warning?.kind === "taken" ? (
            <Button onClick={() => void takeAndSend()}>{t.takeAndSend}</Button>
          ) : (
            <Button onClick={() => void send(true)}>{t.sendAnyway}</Button>
          )}
        </div>
      </Modal>
      <CannedReplies
        opened={managing !== null}
        creates={managing === "new"}
        close={() => setManaging(null)}
        inbox={inbox}
        state={state}
        t={t}
        insert={(r) => {
          setManaging(null);
          setMode("reply");
          insert(r);
        }}
        toast={toast}
      />
    </div>
  );
}
