// The tag that a page embeds: <script async src="{widget_url}/embed/chat.js" widget="<id>" customer="<key>" lang="es"></script>
// A button in a closed shadow root; the chat's iframe is made when it is first opened. Loaded twice it stays one.
//
//   carillon("open" | "close" | "toggle" | "hide" | "show"), carillon("setUser", jwt), carillon("on", "unread" | "open" | "close" | "ready" | "identity", f)
//
// Calls from before it has loaded: carillon = function () { (carillon.q = carillon.q || []).push(arguments) }.
import {
  animation,
  dress,
  hex,
  onColour,
  selectorOf,
  visitorOf,
  warn,
  watchPolicy,
  type Api,
  type Call,
  type Listeners,
} from "./parts";

(() => {
  const w = window as unknown as { carillon?: Api };
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
  let data: unknown;
  let frame: HTMLIFrameElement | undefined;
  let open = false;
  let peer: string | undefined; // whom messages are for, once the frame has loaded
  let identity: string | undefined;

  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "closed" });
  const button = document.createElement("button");
  button.ariaExpanded = open as never; // a boolean becomes its word
  const badge = document.createElement("b");
  button.append(badge);
  button.onclick = () => show(!open);
  root.append(button);

  // Until the frame has loaded, its window is an empty page of the site: the browser would warn and deliver nothing.
  const post = (message: unknown) => peer && frame!.contentWindow?.postMessage(message, peer);

  const show = (to: boolean) => {
    if (to && !frame) {
      frame = document.createElement("iframe");
      frame.src = home + "/?cw_id=" + widget;
      frame.title = button.ariaLabel!;
      root.append(frame);
    }
    open = to;
    host.className = to ? "o" : "";
    button.ariaExpanded = to as never;
    post({ type: to ? "opened" : "closed" });
    (to ? frame! : button).focus();
    emit(to ? "open" : "close");
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
    host.style.display = { hide: "none", show: "" }[name] ?? host.style.display;
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
      home + `/functions/v1/widget?access_key=${attribute("customer")}&widget_id=${widget}&lang=${lang}`,
    );
    if (!r.ok) throw r.status;
    const d = await r.json();
    const a = d.appearance || {};
    const colour = hex(a.primary_color, "#2f5bd7");
    dress(
      host,
      root,
      a.position,
      colour,
      onColour(colour),
      20,
      "M3 4h18v13H10l-5 5v-5H3zM5 6v9h2v2l2-2h10V6z",
      (a.animation ? animation : "") +
        "b{position:absolute;top:-3px;right:-3px;min-width:10px;padding:2px 5px;border-radius:10px;background:#b3261e;color:#fff;font:600 12px/16px system-ui}b:empty{display:none}",
    );
    button.ariaLabel = a.title || "Chat";
    data = d;
    waiting.forEach(run);
  })().catch(warn);
})();
