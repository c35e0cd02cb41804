// The service worker that shows web push messages. Its scope has no pages and it handles no requests: it cannot change what the panel
// loads.
interface Client {
  focused: boolean;
  url: string;
  focus(): Promise<Client>;
  navigate(url: string): Promise<Client | null>;
}
interface Worker {
  registration: { showNotification(title: string, options: object): Promise<void> };
  clients: {
    matchAll(options: { type: "window"; includeUncontrolled: true }): Promise<Client[]>;
    openWindow(url: string): Promise<Client | null>;
    claim(): Promise<void>;
  };
  location: { origin: string };
  addEventListener(type: string, listener: (e: PushedEvent) => void): void;
}
interface PushedEvent {
  data?: { json(): unknown };
  notification?: { data?: { url?: unknown }; close(): void };
  waitUntil(what: Promise<unknown>): void;
}
interface Message {
  title?: unknown;
  body?: unknown;
  tag?: unknown;
  url?: unknown;
}

const worker = globalThis as unknown as Worker;
const windows = () => worker.clients.matchAll({ type: "window", includeUncontrolled: true });
const text = (x: unknown) => (typeof x === "string" ? x : "");

worker.addEventListener("push", (e) => {
  let m: Message = {};
  try {
    m = e.data?.json() ?? {};
  } catch {
    /* an empty message is shown without a text */
  }
  const show = async () => {
    // A page that somebody looks at tells of it itself.
    if (m.tag !== "test" && (await windows()).some((w) => w.focused)) return;
    await worker.registration.showNotification(text(m.title) || "Carillon", {
      body: text(m.body),
      tag: text(m.tag) || undefined,
      data: { url: text(m.url) },
    });
  };
  e.waitUntil(show());
});

worker.addEventListener("notificationclick", (e) => {
  e.notification?.close();
  const url = text(e.notification?.data?.url);
  const to = url.startsWith("/panel/") ? worker.location.origin + url : worker.location.origin + "/panel/inbox";
  const open = async () => {
    const have = (await windows())[0];
    if (!have) return worker.clients.openWindow(to);
    await have.focus();
    return have.navigate(to).catch(() => worker.clients.openWindow(to));
  };
  e.waitUntil(open());
});
