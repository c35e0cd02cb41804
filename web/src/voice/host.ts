// What the page gets from the page that holds it.
import type { Host as Hosted } from "../shared/host";

export interface Widget {
  widget_id: string;
  name: string;
  colors?: { primary?: string; on_primary?: string; background?: string; text?: string };
  language: string;
  languages?: string[];
  agent?: { name?: string };
  welcome?: string;
  texts?: Record<string, string>;
  /** Whether one may type. */
  text_input?: boolean;
  /** Whether what is said is shown. */
  transcript?: boolean;
  /** What one has to agree to. */
  terms?: string;
  /** Whether the installation can speak, and whether it understands speech. */
  speech?: boolean;
  hearing?: boolean;
  /** How a browser may understand it instead: on the device, or also by the service of its maker. */
  browser_hearing?: "device" | "service";
  talk_to_person?: boolean;
  /** The address of the logo. */
  logo?: string;
  /** Whether the page also has a chat, to which one can change. */
  chat?: boolean;
  /** In the designer of the panel: a screen to look at. */
  preview?: { screen?: "start" | "talk" | "ended"; theme?: "light" | "dark" };
}

export interface Customer {
  id: string;
  access_key: string;
  language?: string;
  identity?: string;
  page?: string;
  /** The page that holds this one may recognise speech for it. */
  hears?: boolean;
}

export type Host = Hosted<Widget, Customer>;
