// The page that holds this one: the wrapper, or a customer's page with the embed script. It answers get_widget and
// get_customer, and is told when to close and how much is unread. The first answer fixes its origin.

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
  /** In the designer of the panel: what the page shows instead of a conversation. */
  preview?: { turns: Turn[]; theme?: "light" | "dark" };
}

export interface Customer { id: string; identity?: string; page?: string; [key: string]: unknown }

type Message = { type?: string; widgetData?: WidgetData; customer?: Customer; identity?: string; open?: boolean };

export class Host {
  private origin = "";
  private readonly waiting = new Map<string, (m: Message) => void>();
  onUser: (identity: string) => void = () => {};
  onOpen: (open: boolean) => void = () => {};
  onPreview: (widget: WidgetData) => void = () => {};

  constructor(private readonly parent: Window | null = window.parent === window ? null : window.parent) {
    window.addEventListener("message", (e) => this.receive(e));
  }

  get embedded(): boolean { return this.parent !== null; }

  private receive(e: MessageEvent): void {
    if (!this.parent || e.source !== this.parent || (this.origin && e.origin !== this.origin)) return;
    const m: Message = typeof e.data === "object" && e.data ? e.data : {};
    if (m.type && this.waiting.has(m.type)) {
      this.origin = e.origin;
      this.waiting.get(m.type)!(m);
      this.waiting.delete(m.type);
    }
    if (!this.origin) return;
    if (m.type === "set_user" && typeof m.identity === "string") this.onUser(m.identity);
    if (m.type === "get_widget" && m.widgetData?.preview) this.onPreview(m.widgetData);
    if (m.type === "opened") this.onOpen(true);
    if (m.type === "closed") this.onOpen(false);
  }

  /** ask sends a question until the host answers. */
  private ask(type: string): Promise<Message> {
    return new Promise((resolve, reject) => {
      if (!this.parent) { reject(new Error("no host")); return; }
      let tries = 0;
      const send = () => {
        if (!this.waiting.has(type)) return;
        if (tries++ > 40) { this.waiting.delete(type); reject(new Error("the host does not answer")); return; }
        this.parent!.postMessage({ type }, "*"); // it holds nothing that others must not see
        setTimeout(send, tries < 5 ? 250 : 1000);
      };
      this.waiting.set(type, resolve);
      send();
    });
  }

  async widget(): Promise<WidgetData> { return (await this.ask("get_widget")).widgetData!; }
  async customer(): Promise<Customer> { return (await this.ask("get_customer")).customer!; }

  /** tell sends what the host may act on: close, unread, ready. */
  tell(type: string, more: Record<string, unknown> = {}): void {
    this.parent?.postMessage({ type, ...more }, this.origin && this.origin !== "null" ? this.origin : "*");
  }
}
