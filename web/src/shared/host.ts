// The page that holds a widget's page: the wrapper, or a customer's page with an embed script. It says which widget this is and
// who visits, and is told when to close. The first answer fixes its origin.

type Message = { type?: string; [key: string]: unknown };

export class Host<Widget, Customer> {
  private origin = "";
  private readonly waiting = new Map<string, (m: Message) => void>();
  onUser: (identity: string) => void = () => {};
  onOpen: (open: boolean) => void = () => {};
  /** What the host says of a widget again: in the designer of the panel. */
  onWidget: (widget: Widget) => void = () => {};
  /** Any other message. */
  onMessage: (m: Message) => void = () => {};

  constructor(private readonly parent: Window | null = window.parent === window ? ownOpener() : window.parent) {
    if (!this.embedded && this.parent) this.origin = location.origin;
    window.addEventListener("message", (e) => this.receive(e));
  }

  get embedded(): boolean {
    return window.parent !== window;
  }

  private receive(e: MessageEvent): void {
    if (!this.parent || e.source !== this.parent || (this.origin && e.origin !== this.origin)) return;
    const m: Message = typeof e.data === "object" && e.data ? e.data : {};
    const waiting = this.waiting.get(m.type ?? "");
    if (waiting) {
      this.origin = e.origin;
      this.waiting.delete(m.type!);
      waiting(m);
    }
    if (!this.origin) return;
    if (m.type === "set_user") {
      if (typeof m.identity === "string") this.onUser(m.identity);
    } else if (m.type === "get_widget") {
      if (m.widgetData) this.onWidget(m.widgetData as Widget);
    } else if (m.type === "opened") this.onOpen(true);
    else if (m.type === "closed") this.onOpen(false);
    else this.onMessage(m);
  }

  /** ask sends a question until the host answers. */
  private ask(type: string): Promise<Message> {
    return new Promise((resolve, reject) => {
      if (!this.parent) {
        reject(new Error("no host"));
        return;
      }
      let tries = 0;
      const send = () => {
        if (!this.waiting.has(type)) return;
        if (tries++ > 40) {
          this.waiting.delete(type);
          reject(new Error("the host does not answer"));
          return;
        }
        this.parent!.postMessage({ type }, "*"); // it holds nothing that others must not see
        setTimeout(send, tries < 5 ? 250 : 1000);
      };
      this.waiting.set(type, resolve);
      send();
    });
  }

  async widget(): Promise<Widget> {
    return (await this.ask("get_widget")).widgetData as Widget;
  }
  async customer(): Promise<Customer> {
    return (await this.ask("get_customer")).customer as Customer;
  }

  /** tell sends what the host may act on: close, unread, state, ready. */
  tell(type: string, more: Record<string, unknown> = {}): void {
    this.parent?.postMessage({ type, ...more }, this.origin && this.origin !== "null" ? this.origin : "*");
  }
}

/** ownOpener is the frame that has opened this window. Pages of other sites do not hold a window: their policy cannot be asked for. */
function ownOpener(): Window | null {
  try {
    const opener = window.opener as Window | null;
    return opener?.location.origin === location.origin ? opener : null;
  } catch {
    return null;
  }
}
