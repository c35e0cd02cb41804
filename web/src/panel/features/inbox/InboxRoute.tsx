// The inbox in the panel: whose it is, where in it the address leads, and how it reaches the server.
import { notifications } from "@mantine/notifications";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useEffect, useMemo, type ReactNode } from "react";
import { send } from "../../api";
import { useLanguage } from "../../i18n";
import { inbox as stream } from "../../live";
import { useCan, useCompany, useMe } from "../../session";
import { listShortcuts } from "../../shell/Shortcuts";
import { succeeded } from "../../ui/problem";
import { InboxPage, type Place } from "./InboxPage";
import type { Server } from "./snapshot";
import { texts as talkTexts } from "../talk/texts";
import { texts } from "./texts";

const server: Server = {
  request: send,
  follow: (follower) => {
    const leave = stream.listen((e) => {
      if (e.event !== "reset") {
        follower.event(e.event, e.data);
        return;
      }
      follower.connected(false);
      follower.connected(true);
    });
    const unwatch = stream.watch(() => follower.connected(stream.state !== "broken"));
    return () => {
      leave();
      unwatch();
    };
  },
};

export function InboxRoute() {
  const company = useCompany();
  return <Inbox key={company.id} />;
}

function Inbox() {
  const me = useMe();
  const can = useCan();
  const language = useLanguage();
  const navigate = useNavigate();
  const address = useSearch({ from: "/shell/inbox" });
  const mayAnswer = can("conversations:answer");
  const place: Place = useMemo(
    () => ({
      folder: address.folder ?? (mayAnswer ? "unassigned" : "all"),
      closed: address.closed ?? false,
      search: address.q ?? "",
      id: address.c,
    }),
    [address.folder, address.closed, address.q, address.c, mayAnswer],
  );
  const go = useCallback(
    (to: Partial<Place>, replace = false) => {
      void navigate({
        to: "/inbox",
        replace,
        search: (now) => {
          const a: Record<string, unknown> = { ...now };
          if ("folder" in to) a.folder = to.folder;
          if ("closed" in to) a.closed = to.closed || undefined;
          if ("search" in to) a.q = to.search || undefined;
          if ("id" in to) a.c = to.id;
          return a;
        },
      });
    },
    [navigate],
  );
  const t = texts.now;
  const talk = talkTexts.now;
  useEffect(() => {
    const keys: [string[], string][] = [
      [["J"], t.key_move],
      [["X"], t.key_select],
      [["R"], t.key_reply],
      [["N"], t.key_note],
      [["A"], t.key_take],
      [["V"], talk.key_voice],
      [["E"], t.key_resolve],
      [["/"], t.key_search],
      [["I"], t.key_details],
    ];
    return listShortcuts(
      t.inbox,
      keys.map(([k, text]) => ({ keys: k[0] === "J" ? ["J", "K"] : k, text })),
    );
  }, [t, talk]);
  const toast = useCallback((message: ReactNode, problem?: boolean) => {
    if (!problem) {
      succeeded(message);
      return;
    }
    notifications.show({ message, color: "red", autoClose: 8_000, withBorder: true, role: "alert" });
  }, []);
  return (
    <InboxPage
      server={server}
      me={me.account.id}
      mayAnswer={mayAnswer}
      times={can("resources:write")}
      language={language}
      place={place}
      go={go}
      toast={toast}
    />
  );
}
