import { why } from "../../ui/problem";
import { ActionIcon, Button, Loader, Popover, Switch, TextInput, UnstyledButton } from "@mantine/core";
import { IconAdjustmentsHorizontal, IconCheck, IconMicrophone, IconSearch, IconX } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState, type RefObject, type ReactNode } from "react";
import { Bulk, ListBar } from "./Bulk";
import { opensNext, setOpensNext } from "./prefs";
import type { Place } from "./InboxPage";
import { absolute } from "../../format";
import { ago } from "./format";
import { Avatar } from "./Avatar";
import { enclosedTexts, type InboxTexts } from "./texts";
import { nameOf, present, previewOf, type Order } from "./model";
import type { Notices } from "./notices";
import type { Snapshot } from "./snapshot";
import type { Inbox } from "./store";
import { draftOf } from "./drafts";
import { Slow } from "../../shell/Starting";
import { fill, useTexts } from "../../i18n";
import { setBell, toll, useBell } from "../talk/bell";
import { onTheLine } from "../talk/current";
import { texts as talkTexts } from "../talk/texts";
import { useTyped } from "../../ui/typed";
import { ChannelMark } from "./Messages";
import { folders, type Folder, type Listed, type State } from "./types";

interface Props {
  inbox: Inbox;
  state: Snapshot;
  t: InboxTexts;
  language: string;
  place: Place;
  go(to: Partial<Place>, replace?: boolean): void;
  search: RefObject<HTMLInputElement | null>;
  mayAnswer: boolean;
  notices: Notices;
  toast(message: ReactNode, problem?: boolean): void;
  order: Order;
  setOrder(to: Order): void;
}

/** The folders that wait for somebody say how much. */
const counted: Folder[] = ["mine", "unassigned", "unanswered"];

export function ConversationList(p: Props) {
  const { inbox, state, t, language, place, go, search, mayAnswer, notices, toast, order, setOrder } = p;
  const [selecting, setSelecting] = useState(false);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const leave = () => {
    setSelecting(false);
    setSelected(new Set());
  };
  useEffect(leave, [place.folder, place.closed, place.search]);
  const toggle = (id: string) => {
    setSelecting(true);
    setSelected((have) => {
      const to = new Set(have);
      if (!to.delete(id)) to.add(id);
      return to;
    });
  };
  useSelectKey(mayAnswer && !!place.id, () => toggle(place.id!));
  const chosen = state.list.filter((c) => selected.has(c.id));
  const [asked, setAsked] = useTyped(
    place.search,
    (search) => go({ search }, true),
    250,
    (s) => s,
  );
  useMinute();
  const mine = state.teammates.find((x) => x.account_id === inbox.me);
  const away = mine?.away ?? false;

  return (
    <section className="inbox-list" aria-label={t.inbox}>
      <header className="inbox-head">
        <h1>{t.inbox}</h1>
        {mayAnswer && (
          <Popover position="bottom-end" width={290} withinPortal={false} trapFocus returnFocus>
            <Popover.Target>
              <UnstyledButton className="inbox-presence">
                <i className="inbox-dot" data-away={away ? "yes" : "no"} />
                <span className="cut">{away ? t.away : t.available}</span>
                <IconAdjustmentsHorizontal size={16} stroke={1.7} aria-hidden />
                <span className="hidden">{t.settings}</span>
              </UnstyledButton>
            </Popover.Target>
            <Popover.Dropdown p={0} aria-label={t.settings}>
              <div className="inbox-settings">
                <Switch
                  label={t.available}
                  checked={!away}
                  onChange={(e) =>
                    void inbox.setAway(!e.currentTarget.checked).catch((x: unknown) => toast(why(x), true))
                  }
                />
                <Ring />
                <OpensNext t={t} />
                <Switch
                  label={t.sound}
                  checked={notices.sound}
                  onChange={(e) => notices.setSound(e.currentTarget.checked)}
                />
                <Switch
                  label={t.desktop}
                  checked={notices.desktop}
                  onChange={(e) =>
                    void notices.setDesktop(e.currentTarget.checked).then((ok) => {
                      if (!ok) toast(t.desktopDenied, true);
                    })
                  }
                />
              </div>
              <p className="inbox-more-notices">
                <Link to="/account">{t.moreNotices}</Link>
              </p>
              <p className="inbox-team-label">{t.team}</p>
              <ul className="inbox-team">
                {state.teammates
                  .filter((x) => x.account_id !== inbox.me && x.present)
                  .map((x) => (
                    <li key={x.account_id}>
                      <i className="inbox-dot" data-away={x.away ? "yes" : "no"} />
                      {x.name}
                      {x.away && <small> · {t.away}</small>}
                    </li>
                  ))}
                {!state.teammates.some((x) => x.account_id !== inbox.me && x.present) && (
                  <li className="inbox-muted">{t.teamNone}</li>
                )}
              </ul>
            </Popover.Dropdown>
          </Popover>
        )}
      </header>
      <div className="inbox-folders" role="group" aria-label={t.inbox}>
        {folders.map((f) => (
          <UnstyledButton
            key={f}
            aria-current={place.folder === f ? "page" : undefined}
            onClick={() => go({ folder: f, id: undefined })}
          >
            {t[f]}
            {counted.includes(f) && state.counts && state.counts[f] > 0 && (
              <span data-hot={f === "unassigned" ? "yes" : "no"}>
                {state.counts[f] > 999 ? "999+" : state.counts[f]}
              </span>
            )}
          </UnstyledButton>
        ))}
      </div>
      <div className="inbox-search">
        <TextInput
          ref={search}
          size="sm"
          value={asked}
          onChange={(e) => setAsked(e.currentTarget.value)}
          placeholder={t.search}
          aria-label={t.search}
          leftSection={<IconSearch size={16} aria-hidden />}
          rightSection={
            asked ? (
              <ActionIcon variant="subtle" size="sm" aria-label={t.clear} onClick={() => setAsked("")}>
                <IconX size={14} />
              </ActionIcon>
            ) : undefined
          }
        />
        <div className="inbox-toggle" role="group" aria-label={t.inbox}>
          <button type="button" aria-pressed={!place.closed} onClick={() => go({ closed: false })}>
            {t.open}
          </button>
          <button type="button" aria-pressed={place.closed} onClick={() => go({ closed: true })}>
            {t.closed}
          </button>
        </div>
      </div>
      {!state.connected && (
        <p className="inbox-banner" role="status">
          {t.reconnecting}
        </p>
      )}
      {selecting ? (
        <Bulk
          inbox={inbox}
          state={state}
          t={t}
          chosen={chosen}
          select={(all) => setSelected(new Set(all.map((c) => c.id)))}
          leave={leave}
        />
      ) : (
        <ListBar
          t={t}
          folder={place.folder}
          order={order}
          setOrder={setOrder}
          select={mayAnswer && state.list.length > 0 ? () => setSelecting(true) : undefined}
        />
      )}
      <Rows
        inbox={inbox}
        state={state}
        t={t}
        language={language}
        place={place}
        go={go}
        selected={selecting ? selected : undefined}
        toggle={toggle}
      />
    </section>
  );
}

/** useSelectKey selects the open conversation with X. */
function useSelectKey(on: boolean, toggle: () => void): void {
  const now = useRef(toggle);
  now.current = toggle;
  useEffect(() => {
    if (!on) return;
    const press = (e: KeyboardEvent) => {
      const at = e.target as HTMLElement;
      if (e.key !== "x" || e.ctrlKey || e.metaKey || e.altKey) return;
      if (at.matches("input, textarea, select, [contenteditable]")) return;
      if (document.querySelector("[role=dialog], [role=menu]")) return;
      now.current();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [on]);
}

/** OpensNext is whether the next conversation opens after one was resolved. */
function OpensNext({ t }: { t: InboxTexts }) {
  const [on, set] = useState(opensNext);
  return (
    <Switch
      label={t.opensNext}
      checked={on}
      onChange={(e) => {
        setOpensNext(e.currentTarget.checked);
        set(e.currentTarget.checked);
      }}
    />
  );
}

/** Ring is whether calls ring aloud in this browser. */
function Ring() {
  const t = useTexts(talkTexts);
  const on = useBell();
  return (
    <Switch
      label={t.ring}
      checked={on}
      onChange={(e) => {
        setBell(e.currentTarget.checked);
        if (e.currentTarget.checked) toll();
      }}
    />
  );
}

function Rows({
  inbox,
  state,
  t,
  language,
  place,
  go,
  selected,
  toggle,
}: Pick<Props, "inbox" | "state" | "t" | "language" | "place" | "go"> & {
  /** The selected conversations, while some are being selected. */
  selected?: ReadonlySet<string>;
  toggle(id: string): void;
}) {
  if (state.listPhase === "loading" && state.list.length === 0) {
    return (
      <div className="inbox-rows" aria-busy="true" aria-label={t.loading}>
        {[0, 1, 2, 3, 4, 5].map((i) => (
          <div key={i} className="inbox-skeleton" />
        ))}
        <Slow />
      </div>
    );
  }
  if (state.listPhase === "failed") {
    return (
      <div className="inbox-empty">
        <b>{t.failed}</b>
        <Button variant="default" size="xs" onClick={() => void inbox.loadList()}>
          {t.retry}
        </Button>
      </div>
    );
  }
  if (state.list.length === 0) return <Empty t={t} place={place} />;
  return (
    <div className="inbox-rows">
      <ul>
        {state.list.map((c) => (
          <Row
            key={c.id}
            c={c}
            state={state}
            t={t}
            language={language}
            chosen={place.id === c.id}
            me={inbox.me}
            choose={() => (selected ? toggle(c.id) : go({ id: c.id }))}
            selected={selected?.has(c.id)}
            open={place.folder === "unanswered"}
          />
        ))}
      </ul>
      {state.cursor && <More t={t} load={() => inbox.loadMore()} />}
    </div>
  );
}

function Empty({ t, place }: { t: InboxTexts; place: Place }) {
  const of: Record<Folder, [string, string]> = {
    mine: [t.noneMine, t.noneMineHint],
    unassigned: [t.noneUnassigned, t.noneUnassignedHint],
    unanswered: [t.noneUnanswered, t.noneUnansweredHint],
    automated: [t.noneAutomated, t.noneAutomatedHint],
    all: [t.noneAll, t.noneAllHint],
  };
  const [title, hint] = place.search ? [t.noneFound, ""] : place.closed ? [t.noneClosed, ""] : of[place.folder];
  return (
    <div className="inbox-empty">
      <b>{title}</b>
      {hint && <span>{hint}</span>}
    </div>
  );
}

/** More loads the next page when it comes into view, or is pressed. */
function More({ t, load }: { t: InboxTexts; load(): Promise<void> }) {
  const at = useRef<HTMLDivElement>(null);
  const [busy, setBusy] = useState(false);
  const go = useRef(() => {});
  go.current = () => {
    if (!busy) {
      setBusy(true);
      void load().finally(() => setBusy(false));
    }
  };
  useEffect(() => {
    const watch = new IntersectionObserver((seen) => {
      if (seen[0]?.isIntersecting) go.current();
    });
    if (at.current) watch.observe(at.current);
    return () => watch.disconnect();
  }, []);
  return (
    <div ref={at} className="inbox-more">
      {busy ? (
        <Loader size="xs" />
      ) : (
        <Button variant="subtle" size="xs" onClick={() => go.current()}>
          {t.more}
        </Button>
      )}
    </div>
  );
}

const colors: Partial<Record<State, string>> = {
  queued: "warn",
  missed: "danger",
  abandoned: "danger",
  resolved: "quiet",
  bot: "quiet",
  wrap_up: "quiet",
};

function Row({
  c,
  state,
  t,
  language,
  chosen,
  me,
  choose,
  selected,
  open,
}: {
  c: Listed;
  state: Snapshot;
  t: InboxTexts;
  language: string;
  chosen: boolean;
  me: string;
  choose(): void;
  /** Whether it is selected; undefined where none can be. */
  selected?: boolean;
  /** Whether the row shows the question that the agent left open. */
  open: boolean;
}) {
  const row = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (chosen) row.current?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const e = useTexts(enclosedTexts);
  const name = nameOf(c, c.contact_id, c.group ? e.group : t.visitor);
  const unread = c.unread && c.state !== "bot"; // what the agent answers waits for nobody
  const writing = present(state.marks, c.id, "typing", me, Date.now())[0];
  const draft = draftOf(c.id);
  const shown = open && c.unanswered ? { text: c.unanswered } : previewOf(c);
  const assignee = c.assignee ? state.teammates.find((x) => x.account_id === c.assignee)?.name : undefined;
  return (
    <li>
      <button
        ref={row}
        type="button"
        className="inbox-row"
        data-id={c.id}
        aria-current={chosen ? "true" : undefined}
        aria-pressed={selected}
        data-unread={unread ? "yes" : "no"}
        onClick={choose}
      >
        {selected === undefined ? (
          <Avatar name={c.name || c.username} group={c.group} />
        ) : (
          <span className="inbox-select" data-on={selected ? "yes" : "no"} aria-hidden>
            <i>{selected && <IconCheck size={14} stroke={3} />}</i>
          </span>
        )}
        <span className="inbox-row-main">
          <span className="inbox-row-top">
            <b>{name}</b>
            <time dateTime={c.last_at} title={absolute(c.last_at, language)}>
              {ago(c.last_at, language)}
            </time>
          </span>
          <span className="inbox-row-text">
            {writing ? (
              <em>{fill(t.writing, { name: writing.author === "visitor" ? name : writing.name || t.agent })}</em>
            ) : draft && !chosen ? (
              <>
                <em>{t.draft}:</em> {draft}
              </>
            ) : (
              <>
                {shown.by === "teammate" && (assignee && c.assignee !== me ? `${assignee}: ` : `${t.you}: `)}
                {shown.by === "agent" && `${t.agent}: `}
                {shown.text || "…"}
              </>
            )}
          </span>
          <span className="inbox-row-end">
            {c.channel === "web_voice" && <Voice c={c} />}
            {c.channel === "whatsapp" && <ChannelMark group={c.group} />}
            {!(c.group && c.state === "bot") && (
              <span className="inbox-chip" data-color={colors[c.state] ?? "ok"}>
                {c.state === "active" && assignee ? (c.assignee === me ? t.you : assignee) : t[c.state]}
              </span>
            )}
            {c.waiting_at && (
              <span className="inbox-muted" title={absolute(c.waiting_at, language)}>
                {c.state === "queued"
                  ? ago(c.waiting_at, language)
                  : fill(t.waits, { time: ago(c.waiting_at, language) })}
              </span>
            )}
            {c.tags.slice(0, 2).map((x) => (
              <span key={x} className="inbox-tag">
                {x}
              </span>
            ))}
            {c.rating ? (
              <span className="inbox-muted" aria-label={`${t.rating}: ${c.rating}`}>
                {"★".repeat(c.rating)}
              </span>
            ) : null}
          </span>
        </span>
        {unread && <i className="inbox-unread" aria-hidden />}
      </button>
    </li>
  );
}

/** Voice marks a conversation that is held aloud. */
function Voice({ c }: { c: Listed }) {
  const t = useTexts(talkTexts);
  const on = onTheLine(c);
  return (
    <span className="inbox-voice" data-on={on ? "yes" : "no"}>
      <IconMicrophone size={13} aria-hidden />
      {on ? t.speaking : t.voice}
    </span>
  );
}

/** useMinute draws again every half a minute: times are relative. */
function useMinute(): void {
  const [, set] = useState(0);
  useEffect(() => {
    const i = setInterval(() => set((n) => n + 1), 30_000);
    return () => clearInterval(i);
  }, []);
}
