// The tag that a page embeds: <script async src="{widget_url}/embed/chat.js" widget="<id>" customer="<key>" lang="es"></script>
// A button in a closed shadow root; the chat's iframe is made when it is first opened. Loaded twice it stays one.
//
//   carillon("open" | "close" | "toggle" | "hide" | "show"), carillon("setUser", jwt), carillon("on", "unread" | "open" | "close" | "ready" | "identity", f)
//
// Calls from before it has loaded: carillon = function () { (carillon.q = carillon.q || []).push(arguments) }.
//
// Where the page also has a voice widget, this button opens both: the chat offers to talk. The scripts meet through the call "join",
// in any load order.
import {
  dress,
  selectorOf,
  visitorOf,
  warn,
  watchPolicy,
  type Api,
  type Call,
  type Joined,
  type Launcher,
  type Listeners,
} from "./parts";

(() => {
  const w = window as unknown as { carillon?: Api; carillonVoice?: Api };
  const tag = (document.currentScript || document.querySelector(selectorOf("chat"))) as HTMLScriptElement | null;
  if (!tag) return warn("no " + selectorOf("chat"));
  if (w.carillon?.on) return;
  const attribute = (name: string) => tag.getAttribute(name) || "";
  const home = new URL(tag.src).origin;
  watchPolicy(home);
  const widget = attribute("widget");
  const lang = attribute("lang") || document.documentElement.lang || navigator.language;
  const listeners: Listeners = {};
  const emit = (name: string, value?: unknown) => listeners[name]?.forEach((f) => f(value));
  let customer: object | undefined;
  let data: { launcher: Launcher; voice?: string } | undefined;
  let voice: Joined | undefined;
  let spoken = false; // the voice widget is open
  let talking = false;
  let frame: HTMLIFrameElement | undefined;
  let open = false;
  let peer: string | undefined; // whom messages are for, once the frame has loaded
  let identity: string | undefined;

  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "closed" });
  const button = document.createElement("button");
  const label = document.createElement("i");
  const badge = document.createElement("b");
  button.append(label, badge);
  button.onclick = () => (spoken || (talking && !open) ? w.carillonVoice!("toggle") : show(!open));
  button.onkeydown = (e) => {
    if (e.key === "Escape" && (open || spoken)) button.click();
  };
  root.append(button);

  // Until the frame has loaded, its window is an empty page of the site: the browser would warn and deliver nothing.
  const post = (message: unknown) => peer && frame!.contentWindow?.postMessage(message, peer);

  const mark = () => {
    const on = open || spoken;
    host.className = `${open ? "o" : ""} ${on ? "x" : ""} ${talking ? "l" : ""}`;
    button.ariaExpanded = on as never; // a boolean becomes its word
    button.ariaLabel = data!.launcher[on ? "close" : "name"];
  };

  const show = (to: boolean) => {
    if (to && !frame) {
      frame = document.createElement("iframe");
      frame.src = home + "/?cw_id=" + widget;
      frame.title = data!.launcher.name;
      root.append(frame);
    }
    if (to && spoken) w.carillonVoice!("close");
    open = to;
    mark();
    post({ type: to ? "opened" : "closed" });
    emit(to ? "open" : "close");
    (to ? frame! : button).focus();
  };

  /** offer sends the chat the voice features of this browser: talking, or hearing replies alone. */
  const offer = () => {
    const hidden = voice!.host.style.display;
    data!.voice = hidden ? "" : voice!.hearing === false ? "hear" : "talk";
    post({ type: "get_widget", widgetData: data });
  };

  const join = (joined: Joined) => {
    if (voice) return;
    voice = joined;
    const on = (name: string, f: (value?: string) => void) => w.carillonVoice!("on", name, f);
    on("open", () => {
      spoken = true;
      if (open) show(false);
      mark();
    });
    on("close", () => {
      spoken = false;
      mark();
      button.focus();
    });
    on("state", (state) => {
      talking = /ing/.test(state!);
      mark();
    });
    on("chat", () => show(true));
    on("shown", offer);
    (listeners.voice ??= []).push(() => w.carillonVoice!("open"));
    if (!host.style.display) voice.stand(data!.launcher.css);
    offer();
  };

  addEventListener("message", (e) => {
    // In a sandboxed frame neither this page nor the frame's has an origin.
    if (!frame || e.source !== frame.contentWindow || (e.origin !== home && e.origin + origin !== "nullnull")) return;
    peer = e.origin === home ? home : "*";
    const { type, count } = e.data || {};
    if (type === "get_widget") post({ type, widgetData: data });
    if (type === "get_customer")
      post({
        type,
        customer: {
          ...(customer ??= visitorOf("carillon.visitor." + widget)),
          page: location.origin + location.pathname,
          identity,
        },
      });
    if (type === "unread") badge.textContent = count && !open ? count : "";
    if (type === "close") show(false);
    else emit(type, count);
  });

  const run = ([name, value, listener]: Call) => {
    const to = { open: true, close: false, toggle: !open }[name];
    if (to !== undefined) show(to);
    const display = { hide: "none", show: "" }[name];
    if (display !== undefined) {
      host.style.display = display;
      voice?.stand(display ? undefined : data!.launcher.css);
    }
    if (name === "join") join(value as Joined);
    if (name === "setUser") post({ type: "set_user", identity: (identity = value as string) });
    if (name === "on") (listeners[value as string] ??= []).push(listener as () => void);
  };
  // What is called before the configuration is there waits for it.
  const waiting = (w.carillon?.q || []) as Call[];
  const api: Api = (...call) => {
    if (data) run(call);
    else waiting.push(call);
  };
  api.on = 1;
  w.carillon = api;

  (async () => {
    const r = await fetch(
      home + `/functions/v1/widget?access_key=${attribute("customer")}&widget_id=${widget}&lang=${lang}&launcher=1`,
    );
    if (!r.ok) throw r.status;
    data = (await r.json()) as NonNullable<typeof data>;
    dress(host, root, data.launcher.css);
    label.textContent = data.launcher.label || "";
    mark();
    waiting.forEach(run);
    if (w.carillonVoice?.on) w.carillonVoice("join");
  })().catch(warn);
})();
