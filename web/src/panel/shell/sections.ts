import type { ComponentType, ReactNode } from "react";
import {
  IconBellOff,
  IconBook2,
  IconChartLine,
  IconDeviceMobile,
  IconGauge,
  IconHistory,
  IconInbox,
  IconKey,
  IconListDetails,
  IconLock,
  IconMessage2Share,
  IconMessageCircle,
  IconPhoneCall,
  IconPlugConnected,
  IconRobot,
  IconRoute,
  IconSend,
  IconSettings,
  IconSpeakerphone,
  IconTemplate,
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
  icon: Icon;
  needs?: string;
  keywords?: string;
  count?: ComponentType;
  only?: ComponentType<{ children: ReactNode }>;
}
export interface Section {
  text: ShellText;
  pages: PageLink[];
}

/** sections are the groups of the navigation. A page that needs a permission is shown to who has it; only decides whether the navigation has it. */
export const sections: Section[] = [
  {
    text: "messages",
    pages: [
      {
        to: "/",
        text: "overview",
        icon: IconChartLine,
        needs: "notifications:read",
        keywords: "home start figures chart delivered failed attention",
      },
      {
        to: "/send",
        text: "send",
        icon: IconSend,
        needs: "notifications:send",
        keywords: "new message template csv file bulk campaign",
      },
      {
        to: "/notifications",
        text: "notifications",
        icon: IconListDetails,
        needs: "notifications:read",
        keywords: "sent messages delivered failed status history",
      },
      {
        to: "/campaigns",
        text: "campaigns",
        icon: IconSpeakerphone,
        needs: "notifications:read",
        keywords: "results delivered read failed export csv",
      },
      {
        to: "/templates",
        text: "templates",
        icon: IconTemplate,
        needs: "templates:read",
        keywords: "message write approval review draft plantilla modelo",
      },
      {
        to: "/suppressions",
        text: "suppressions",
        icon: IconBellOff,
        needs: "notifications:read",
        keywords: "opt out stop unsubscribe blocked numbers",
      },
      {
        to: "/usage",
        text: "usage",
        icon: IconGauge,
        needs: "notifications:read",
        keywords: "quota limits rate retention",
      },
    ],
  },
  {
    text: "conversations",
    pages: [
      {
        to: "/inbox",
        text: "inbox",
        icon: IconInbox,
        needs: "conversations:read",
        keywords: "chat messages visitors",
        count: Waiting,
      },
      {
        to: "/calls",
        text: "calls",
        icon: IconPhoneCall,
        needs: "notifications:read",
        keywords: "telephone phone voice recordings transcripts",
      },
    ],
  },
  {
    text: "setup",
    pages: [
      {
        to: "/agents",
        text: "agents",
        icon: IconRobot,
        needs: "resources:read",
        keywords: "assistant engine persona playground",
      },
      {
        to: "/knowledge",
        text: "knowledge",
        icon: IconBook2,
        needs: "resources:read",
        keywords: "articles import search questions faq",
      },
      {
        to: "/tools",
        text: "tools",
        icon: IconTool,
        needs: "resources:read",
        keywords: "http mcp api functions actions endpoints",
      },
      {
        to: "/flows",
        text: "flows",
        icon: IconRoute,
        needs: "resources:read",
        keywords: "steps automation runs keywords events",
      },
      {
        to: "/widgets",
        text: "widgets",
        icon: IconMessageCircle,
        needs: "resources:read",
        keywords: "chat embed site design",
      },
      {
        to: "/senders",
        text: "senders",
        icon: IconMessage2Share,
        needs: "senders:read",
        keywords: "whatsapp number meta cloud api token callback quality check connect remitentes remetentes",
      },
      {
        to: "/lines",
        text: "lines",
        icon: IconPlugConnected,
        needs: "senders:read",
        keywords: "telephone voice trunk sip calls test",
      },
      {
        to: "/sandbox",
        text: "sandbox",
        icon: IconDeviceMobile,
        needs: "notifications:read",
        keywords: "telephone test calls heard",
        only: IfSandbox,
      },
    ],
  },
  {
    text: "access",
    pages: [
      { to: "/keys", text: "keys", icon: IconKey, needs: "keys:read", keywords: "api token secret" },
      {
        to: "/people",
        text: "people",
        icon: IconUserSearch,
        needs: "settings:write",
        keywords: "erase delete forget export privacy gdpr lgpd borrar apagar datos dados persona pessoa",
      },
      {
        to: "/secrets",
        text: "secrets",
        icon: IconLock,
        needs: "secrets:read",
        keywords: "flow key password token credential header secretos segredos",
      },
      {
        to: "/activity",
        text: "activity",
        icon: IconHistory,
        needs: "activity:read",
        keywords: "api calls errors refused audit log changes history who",
      },
      {
        to: "/webhooks",
        text: "webhooks",
        icon: IconWebhook,
        needs: "webhooks:read",
        keywords: "events endpoints signature secret deliveries replay hooks eventos",
      },
      { to: "/users", text: "users", icon: IconUsers, needs: "users:read", keywords: "team members people roles" },
      {
        to: "/settings",
        text: "settings",
        icon: IconSettings,
        needs: "settings:read",
        keywords: "company name calling hours redial retention limits ajustes configurações horario",
      },
    ],
  },
];
