// What the chat's page gets from the page that holds it.
import type { Host as Hosted } from "../shared/host";
import type { Turn } from "./model";

export interface WidgetData {
  id: string;
  name: string;
  company_name: string;
  language: string;
  welcome: string;
  appearance: { primary_color?: string; position?: string; animation?: string; title?: string };
  agent?: { name?: string };
  texts?: Record<string, string>;
  showClose?: boolean;
  talk_to_person?: boolean;
  /** false: the page offers no thumbs on answers. */
  scores?: boolean;
  /** Questions to send from the empty chat. */
  starters?: string[];
  /** The address of the logo. */
  logo?: string;
  /** What the voice widget of the same page is good for: to talk, or to hear the answers. */
  voice?: "talk" | "hear" | "";
  /** In the designer of the panel: what the page shows instead of a conversation. */
  preview?: { turns: Turn[]; theme?: "light" | "dark" };
}

export interface Customer {
  id: string;
  identity?: string;
  page?: string;
  [key: string]: unknown;
}

export type Host = Hosted<WidgetData, Customer>;
