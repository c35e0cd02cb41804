// The tag that a page embeds: <script async src="{widget_url}/embed/chat.js" widget="<id>" customer="<key>" lang="es"></script>
// A button in a closed shadow root; the chat's iframe is made when it is first opened. Loaded twice it stays one.
//
//   carillon("open" | "close" | "toggle" | "hide" | "show"), carillon("setUser", jwt), carillon("on", "unread" | "open" | "close" | "ready" | "identity", f)
//
// Calls from before it has loaded: carillon = function () { (carillon.q = carillon.q || []).push(arguments) }.
import { animation, dress, hex, onColour, styleOf, visitorOf, type Api, type Call, type Listeners } from "./parts";

(() => {
  const w = window as unknown as { carillon?: Api };
  const tag = document.currentScript as HTMLScriptElement | null;
  if (!tag || w.carillon?.on) return;
  const attribute = (name: string) => tag.getAttribute(name) || "";
  const origin = new URL(tag.src).origin;
  const widget = attribute("widget");
  const lang = attribute("lang") || document.documentElement.lang || navigator.language;
  const listeners: Listeners = {};
  const emit = (name: string, value?: unknown) => listeners[name]?.forEach((f) => f(value));
  let customer: object | undefined;
  let data: unknown;
  let title: string;
  let frame: HTMLIFrameElement | undefined;
  let open = false;
  let loaded = false;
  let identity: string | undefined;

  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "closed" });
  const button = document.createElement("button");
  const badge = document.createElement("b");
  button.innerHTML = '<svg viewBox="0 0 24 24" width="26" fill="none" stroke="currentColor" stroke-width="1.9" aria-hidden="true"><path d="M4 5h16v11H10l-4 4v-4H4z"/></svg>';
  button.ariaExpanded = "false";
  button.append(badge);
  button.onclick = () => show(!open);
  root.append(button);

  // Until the frame has loaded, its window is an empty page of the site: the browser would warn and deliver nothing.
  const post = (message: unknown) => loaded && frame!.contentWindow?.postMessage(message, origin);

  const show = (to: boolean) => {
    if (to && !frame) {
      frame = document.createElement("iframe");
      frame.src = origin + "/?" + new URLSearchParams({ cw_id: widget });
      frame.title = title;
      root.append(frame);
    }
    open = to;
    host.className = to ? "o" : "";
    button.ariaExpanded = "" + to;
    post({ type: to ? "opened" : "closed" });
    if (to) frame!.focus(); else button.focus();
    emit(to ? "open" : "close");
  };

  addEventListener("message", (e) => {
    if (!frame || e.source !== frame.contentWindow || e.origin !== origin) return;
    loaded = true;
    const { type, count } = typeof e.data === "string" ? { type: e.data, count: 0 } : e.data || {};
    if (type === "get_widget") post({ type, widgetData: data });
    if (type === "get_customer") post({ type, customer: { ...(customer ??= visitorOf("carillon.visitor." + widget)), page: location.href.split(/[?#]/)[0], identity } });
    if (type === "unread") badge.textContent = count && !open ? count : "";
    if (type === "close") show(false);
    else emit(type, count);
  });

  const run = ([name, value, listener]: Call) => {
    if (name === "open" || name === "close") show(name === "open");
    if (name === "toggle") show(!open);
    if (name === "hide" || name === "show") host.style.display = name === "hide" ? "none" : "";
    if (name === "setUser") { identity = value as string; post({ type: "set_user", identity }); }
    if (name === "on") (listeners[value as string] ??= []).push(listener as () => void);
  };
  // What is called before the configuration is there waits for it.
  const waiting = [...(w.carillon?.q || [])] as Call[];
  const api: Api = (...call) => { if (data) run(call); else waiting.push(call); };
  api.on = 1;
  w.carillon = api;

  fetch(origin + "/functions/v1/widget?" + new URLSearchParams({ access_key: attribute("customer"), widget_id: widget, lang }))
    .then((r) => (r.ok ? r.json() : Promise.reject(r.status)))
    .then((d) => {
      data = d;
      const a = d.appearance || {};
      const colour = hex(a.primary_color, "#2f5bd7");
      dress(host, root, styleOf(a.position, colour, onColour(colour), 20) + (a.animation ? animation : "") +
        "b{position:absolute;top:-3px;right:-3px;min-width:10px;padding:2px 5px;border-radius:10px;background:#b3261e;color:#fff;font:600 12px/16px system-ui}b:empty{display:none}");
      title = a.title || "Chat";
      button.ariaLabel = title;
      waiting.forEach(run);
    })
    .catch((e) => console.warn("carillon:", e));
})();
