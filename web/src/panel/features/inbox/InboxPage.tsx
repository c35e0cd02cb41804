// The inbox: a list of conversations, the chosen one, and who the contact is.
import { why } from "../../ui/problem";
import { useEffect, useMemo, useRef, useState, useSyncExternalStore, type ReactNode } from "react";
import { ContactPanel } from "./ContactPanel";
import { ConversationList } from "./ConversationList";
import { useNotices } from "./notices";
import type { Server, Refusal } from "./snapshot";
import type { Act, Acts } from "./acts";
import { Inbox } from "./store";
import { Thread, type Mode } from "./Thread";
import { fill } from "../../i18n";
import { onTheLine, startCall } from "../talk/current";
import { following, nameOf, next, type Order } from "./model";
import { opensNext, orderOf, setOrder } from "./prefs";
import { texts } from "./texts";
import type { Folder } from "./types";
import { undoable } from "../../ui/undo";
import "./inbox.css";

export interface Place {
  folder: Folder;
  closed: boolean;
  search: string;
  id?: string;
}

export interface InboxProps {
  server: Server;
  me: string;
  mayAnswer: boolean;
  /** Whether to show how long each step of a spoken turn took. */
  times: boolean;
  language: "en" | "es" | "pt";
  place: Place;
  go(to: Partial<Place>, replace?: boolean): void;
  toast(message: ReactNode, problem?: boolean): void;
}

export function InboxPage({ server, me, mayAnswer, times, language, place, go, toast }: InboxProps) {
  const t = texts.now;
  const inbox = useMemo(() => new Inbox(server, me, mayAnswer), [server, me, mayAnswer]);
  const state = useSyncExternalStore(inbox.subscribe, inbox.snapshot);
  const [details, setDetails] = useState(() => window.matchMedia("(min-width: 1440px)").matches);
  const search = useRef<HTMLInputElement>(null);
  const composer = useRef<{ focus(mode: Mode): void }>(null);
  const notices = useNotices(inbox, t, me, language);
  const [order, show] = useState<Order>(() => orderOf(place.folder));
  useEffect(() => show(orderOf(place.folder)), [place.folder]);

  useEffect(() => inbox.start(), [inbox]);
  useEffect(
    () => inbox.show({ folder: place.folder, closed: place.closed, order }, place.search),
    [inbox, place.folder, place.closed, place.search, order],
  );
  useEffect(() => inbox.open(place.id), [inbox, place.id]);
  useEffect(() => {
    const seen = () => inbox.read();
    document.addEventListener("visibilitychange", seen);
    return () => document.removeEventListener("visibilitychange", seen);
  }, [inbox]);

  /** resolved offers to undo it, and opens the next conversation or offers to. */
  const resolved = (id: string, after: string | undefined) => {
    const undo = async () => {
      await inbox.undo(id);
      go({ id });
    };
    const offer = after && !opensNext() ? { label: t.openNext, run: () => go({ id: after }) } : undefined;
    undoable(t.didResolve, undo, offer);
    if (opensNext() && inbox.snapshot().id === id) go({ id: after }, true);
  };
  const act: Act = async (what, body) => {
    const { id, list, view } = inbox.snapshot();
    const after = id && !view.closed ? following(list, id) : undefined;
    try {
      await (what === "tags" ? inbox.tag(body as Acts["tags"]) : inbox.act(what, body));
      if (what === "resolve" && id) resolved(id, after);
    } catch (e) {
      const refusal = e as Refusal;
      if (refusal.status === 409 && refusal.details?.assignee) {
        toast(fill(t.wasTaken, { name: refusal.details.assignee_name || t.someone }), true);
        void inbox.reloadThread();
      } else toast(why(e), true);
    }
  };
  const speak = () => {
    const { conversation: c, contact } = state.thread!;
    void startCall({
      id: c.id,
      name: nameOf(contact, contact.id, t.visitor),
      agent: !!c.agent_id,
      from: c.assignee ?? "",
    });
  };
  const keys = useRef<(e: KeyboardEvent) => void>(() => {});
  keys.current = (e) => {
    const on = e.target as HTMLElement;
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (on.matches("input, textarea, select, [contenteditable]")) {
      if (e.key === "Escape") on.blur();
      return;
    }
    const conversation = state.thread?.conversation;
    const move = (step: 1 | -1) => {
      const to = next(state.list, place.id, step);
      if (to) go({ id: to }, true);
    };
    const does: Record<string, () => void> = {
      j: () => move(1),
      k: () => move(-1),
      "/": () => search.current?.focus(),
      Escape: () => go({ id: undefined }),
      i: () => setDetails((x) => !x),
    };
    if (mayAnswer && conversation) {
      does.r = () => composer.current?.focus("reply");
      does.n = () => composer.current?.focus("note");
      does.e = () => void act(conversation.state === "resolved" ? "reopen" : "resolve");
      if (onTheLine(conversation)) does.v = speak;
      does.a = () => void act("take", { from: conversation.assignee ?? "" });
    }
    const f = does[e.key];
    if (!f) return;
    e.preventDefault();
    f();
  };
  useEffect(() => {
    let covered = false; // when the key was pressed: without motion, Escape has closed the dialog before it comes here
    const press = () => {
      covered = document.querySelector("[role=dialog], [role=menu]") !== null;
    };
    const f = (e: KeyboardEvent) => {
      if (!covered) keys.current(e);
    };
    window.addEventListener("keydown", press, true);
    document.addEventListener("keydown", f);
    return () => {
      window.removeEventListener("keydown", press, true);
      document.removeEventListener("keydown", f);
    };
  }, []);

  return (
    <div className="inbox" data-open={place.id ? "yes" : "no"} data-details={details && state.thread ? "yes" : "no"}>
      {place.id && <h1 className="hidden inbox-heading">{t.inbox}</h1>}
      <ConversationList
        inbox={inbox}
        state={state}
        t={t}
        language={language}
        place={place}
        go={go}
        search={search}
        mayAnswer={mayAnswer}
        notices={notices}
        toast={toast}
        order={order}
        setOrder={(to) => {
          setOrder(place.folder, to);
          show(to);
        }}
      />
      <Thread
        inbox={inbox}
        state={state}
        t={t}
        language={language}
        mayAnswer={mayAnswer}
        act={act}
        back={() => go({ id: undefined })}
        details={details}
        setDetails={setDetails}
        composer={composer}
        toast={toast}
        speak={speak}
        times={times}
      />
      {details && state.thread && (
        <ContactPanel
          key={state.thread.conversation.id}
          inbox={inbox}
          thread={state.thread}
          t={t}
          language={language}
          mayAnswer={mayAnswer}
          act={act}
          open={(id) => go({ id })}
          close={() => setDetails(false)}
          toast={toast}
        />
      )}
    </div>
  );
}
