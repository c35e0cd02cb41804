import type { ComponentType, ReactNode } from "react";
import {
  IconAppWindow,
  IconBellOff,
  IconBook2,
  IconBuilding,
  IconChartLine,
  IconDeviceMobile,
  IconFileText,
  IconGauge,
  IconHash,
  IconHistory,
  IconInbox,
  IconKey,
  IconListSearch,
  IconLock,
  IconMailbox,
  IconPhoneCall,
  IconRobot,
  IconRoute,
  IconSend,
  IconSettings,
  IconSpeakerphone,
  IconTool,
  IconUserSearch,
  IconUsers,
  IconWebhook,
  type Icon,
} from "@tabler/icons-react";
import { Waiting } from "../features/inbox/Waiting";
import { IfSandbox } from "../features/sandbox/IfSandbox";
import type { ShellText } from "./texts";

export interface PageLink {
  to: string;
  text: ShellText;
  /** short is the text where there is little room, if it differs. */
  short?: ShellText;
  icon: Icon;
  needs?: string;
  keywords?: string;
  count?: ComponentType;
  only?: ComponentType<{ children: ReactNode }>;
}

/** Entry is a line of the navigation: one page, or several pages with tabs between them. */
export interface Entry extends PageLink {
  tabs?: PageLink[];
}
export interface Section {
  text?: ShellText;
  entries: Entry[];
  /** collapsed: the entries are hidden until the group is opened. */
  collapsed?: boolean;
}

export type Can = (permission: string) => boolean;

const whatsApp: PageLink = {
  to: "/senders",
  text: "whatsapp",
  icon: IconHash,
  needs: "senders:read",
  keywords: "whatsapp number sender meta cloud api token callback quality check connect remitentes remetentes",
};
const company: PageLink = {
  to: "/settings",
  text: "company",
  icon: IconBuilding,
  needs: "settings:read",
  keywords: "company name calling hours redial retention limits settings ajustes configurações horario",
};
const agents: PageLink = {
  to: "/agents",
  text: "agents",
  icon: IconRobot,
  needs: "resources:read",
  keywords: "assistant engine persona playground",
};

/** sections are the groups of the navigation. What a role may not see is left out (pagesOf, entriesOf). */
export const sections: Section[] = [
  {
    entries: [
      {
        to: "/",
        text: "overview",
        icon: IconChartLine,
        needs: "notifications:read",
        keywords: "home start figures chart delivered failed attention",
      },
      {
        to: "/inbox",
        text: "inbox",
        short: "inboxShort",
        icon: IconInbox,
        needs: "conversations:read",
        keywords: "chat messages visitors conversations",
        count: Waiting,
      },
      {
        to: "/calls",
        text: "calls",
        icon: IconPhoneCall,
        needs: "notifications:read",
        keywords: "phone voice recordings transcripts",
      },
    ],
  },
  {
    text: "messaging",
    entries: [
      {
        to: "/send",
        text: "send",
        icon: IconSend,
        needs: "notifications:send",
        keywords: "new message template csv file bulk campaign",
      },
      {
        to: "/campaigns",
        text: "campaigns",
        icon: IconSpeakerphone,
        needs: "notifications:read",
        keywords: "results delivered read failed export csv",
      },
      {
        to: "/notifications",
        text: "notifications",
        icon: IconMailbox,
        needs: "notifications:read",
        keywords: "notifications sent messages delivered failed status history",
      },
      {
        to: "/templates",
        text: "templates",
        icon: IconFileText,
        needs: "templates:read",
        keywords: "message write approval review draft plantilla modelo",
      },
      {
        to: "/suppressions",
        text: "suppressions",
        icon: IconBellOff,
        needs: "notifications:read",
        keywords: "suppressions stop unsubscribe blocked numbers",
      },
    ],
  },
  {
    text: "agentGroup",
    entries: [
      {
        ...agents,
        tabs: [
          agents,
          {
            to: "/tools",
            text: "tools",
            icon: IconTool,
            needs: "resources:read",
            keywords: "http mcp api functions actions endpoints",
          },
        ],
      },
      {
        to: "/knowledge",
        text: "knowledge",
        icon: IconBook2,
        needs: "resources:read",
        keywords: "articles import search questions faq",
      },
      {
        to: "/flows",
        text: "flows",
        icon: IconRoute,
        needs: "resources:read",
        keywords: "steps automation runs keywords events",
      },
    ],
  },
  {
    text: "channels",
    entries: [
      {
        ...whatsApp,
        text: "numbers",
        tabs: [
          whatsApp,
          {
            to: "/lines",
            text: "lines",
            icon: IconPhoneCall,
            needs: "senders:read",
            keywords: "lines voice trunk sip calls test",
          },
        ],
      },
      {
        to: "/widgets",
        text: "widgets",
        icon: IconAppWindow,
        needs: "resources:read",
        keywords: "chat embed site design",
      },
      {
        to: "/sandbox",
        text: "sandbox",
        icon: IconDeviceMobile,
        needs: "notifications:read",
        keywords: "sandbox calls heard",
        only: IfSandbox,
      },
    ],
  },
  {
    text: "developers",
    collapsed: true,
    entries: [
      { to: "/keys", text: "keys", icon: IconKey, needs: "keys:read", keywords: "access keys token secret" },
      {
        to: "/webhooks",
        text: "webhooks",
        icon: IconWebhook,
        needs: "webhooks:read",
        keywords: "events endpoints signature secret deliveries replay hooks eventos",
      },
      {
        to: "/api-log",
        text: "apiLog",
        icon: IconListSearch,
        needs: "activity:read",
        keywords: "activity api calls errors refused requests",
      },
      {
        to: "/secrets",
        text: "secrets",
        icon: IconLock,
        needs: "secrets:read",
        keywords: "flow key password token credential header secretos segredos",
      },
    ],
  },
  {
    entries: [
      {
        ...company,
        text: "settings",
        icon: IconSettings,
        tabs: [
          company,
          { to: "/users", text: "team", icon: IconUsers, needs: "users:read", keywords: "users members people roles" },
          {
            to: "/usage",
            text: "usage",
            icon: IconGauge,
            needs: "notifications:read",
            keywords: "quota limits rate retention",
          },
          {
            to: "/change-log",
            text: "changeLog",
            icon: IconHistory,
            needs: "changes:read",
            keywords: "activity audit log changes history who",
          },
          {
            to: "/people",
            text: "people",
            icon: IconUserSearch,
            needs: "settings:write",
            keywords: "erase delete forget export privacy gdpr lgpd borrar apagar datos dados persona pessoa",
          },
        ],
      },
    ],
  },
];

const allowed = (p: PageLink, can: Can): boolean => !p.needs || can(p.needs);

/** tabsOf are the pages of an entry that the role may see; the only page has no tabs. */
export function tabsOf(e: Entry, can: Can): PageLink[] {
  return (e.tabs ?? [e]).filter((p) => allowed(p, can));
}

/** entriesOf are the entries of a group that the role may see. Each leads to its first page that the role may see. */
export function entriesOf(s: Section, can: Can): Entry[] {
  return s.entries.flatMap((e) => {
    const first = tabsOf(e, can)[0];
    return first ? [{ ...e, to: first.to }] : [];
  });
}

/** pagesOf are all pages that the role may see, in the order of the navigation. */
export function pagesOf(can: Can): PageLink[] {
  return sections.flatMap((s) => s.entries.flatMap((e) => tabsOf(e, can)));
}

/** covers reports whether a path is that of a page, or below it. */
export function covers(p: PageLink, path: string): boolean {
  return path === p.to || (p.to !== "/" && path.startsWith(p.to + "/"));
}

/** entryAt is the entry that a path belongs to. */
export function entryAt(path: string): Entry | undefined {
  return sections.flatMap((s) => s.entries).find((e) => (e.tabs ?? [e]).some((p) => covers(p, path)));
}
