// The tag that a page embeds: <script async src="{widget_url}/embed/chat.js" widget="<id>" customer="<key>" lang="es"></script>
// A button in a closed shadow root; the chat's iframe is made when it is first opened. Loaded twice it stays one.
//
//   carillon("open" | "close" | "toggle" | "hide" | "show"), carillon("setUser", jwt), carillon("on", "unread" | "open" | "close" | "ready" | "identity", f)
//
// Calls from before it has loaded: carillon = function () { (carillon.q = carillon.q || []).push(arguments) }.
type Call = [string, ...unknown[]];
type Api = { (...call: Call): void; q?: ArrayLike<unknown>[]; on?: number };

(() => {
  const w = window as unknown as { carillon?: Api };
  const tag = document.currentScript as HTMLScriptElement | null;
  if (!tag || w.carillon?.on) return;
  const attribute = (name: string) => tag.getAttribute(name) || "";
  const origin = new URL(tag.src).origin;
  const widget = attribute("widget");
  const lang = attribute("lang") || document.documentElement.lang || navigator.language;
  const store = "carillon.visitor." + widget;
  const listeners: Record<string, ((value?: unknown) => void)[]> = {};
  const emit = (name: string, value?: unknown) => (listeners[name] || []).forEach((f) => f(value));
  let customer: { id: string; created_at: string; page?: string; identity?: string } | undefined;
  let data: unknown;
  let title: string;
  let frame: HTMLIFrameElement | undefined;
  let open = false;
  let identity: string | undefined;

  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "closed" });
  const button = document.createElement("button");
  const badge = document.createElement("b");
  button.innerHTML = '<svg viewBox="0 0 24 24" width="26" height="26" fill="none" stroke="currentColor" stroke-width="1.9" aria-hidden="true"><path d="M4 5h16v11H10l-4 4v-4H4z"/></svg>';
  button.setAttribute("aria-expanded", "false");
  button.append(badge);
  button.onclick = () => show(!open);
  root.append(button);

  const visitor = () => {
    if (!customer) {
      try { customer = JSON.parse(localStorage.getItem(store) || "null"); } catch { /* private mode */ }
      customer = customer || { id: uuid(), created_at: new Date().toISOString() };
      try { localStorage.setItem(store, JSON.stringify(customer)); } catch { /* private mode */ }
    }
    return { ...customer, page: location.href.split(/[?#]/)[0], identity };
  };
  // Not crypto.randomUUID, which a page without https lacks.
  const uuid = () => "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (c) => (+c ^ (crypto.getRandomValues(new Uint8Array(1))[0]! & (15 >> (+c / 4)))).toString(16));
  const post = (message: unknown) => frame?.contentWindow?.postMessage(message, origin);

  const show = (to: boolean) => {
    if (to && !frame) {
      frame = document.createElement("iframe");
      frame.src = origin + "/?" + new URLSearchParams({ cw_id: widget });
      frame.title = title;
      root.append(frame);
    }
    open = to;
    host.className = to ? "o" : "";
    button.setAttribute("aria-expanded", "" + to);
    post({ type: to ? "opened" : "closed" });
    if (to) frame!.focus(); else button.focus();
    emit(to ? "open" : "close");
  };

  addEventListener("message", (e) => {
    if (!frame || e.source !== frame.contentWindow || e.origin !== origin) return;
    const m = typeof e.data === "string" ? { type: e.data } : e.data || {};
    if (m.type === "get_widget") post({ type: m.type, widgetData: data });
    if (m.type === "get_customer") post({ type: m.type, customer: visitor() });
    if (m.type === "unread") badge.textContent = m.count && !open ? m.count : "";
    if (m.type === "close") show(false);
    else emit(m.type, m.count);
  });

  const run = ([name, value, listener]: Call) => {
    if (name === "open" || name === "close") show(name === "open");
    if (name === "toggle") show(!open);
    if (name === "hide" || name === "show") host.style.display = name === "hide" ? "none" : "";
    if (name === "setUser") { identity = value as string; post({ type: "set_user", identity }); }
    if (name === "on") (listeners[value as string] = listeners[value as string] || []).push(listener as () => void);
  };
  // What is called before the configuration is there waits for it.
  const waiting = Array.from(w.carillon?.q || [], (call) => Array.from(call) as Call);
  const api: Api = (...call) => { if (data) run(call); else waiting.push(call); };
  api.on = 1;
  w.carillon = api;

  fetch(origin + "/functions/v1/widget?" + new URLSearchParams({ access_key: attribute("customer"), widget_id: widget, lang }))
    .then((r) => (r.ok ? r.json() : Promise.reject(r.status)))
    .then((d) => {
      data = d;
      const a = d.appearance || {};
      const colour = /^#[0-9a-f]{6}$/i.test(a.primary_color) ? a.primary_color : "#2f5bd7";
      const [r, g, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16)) as [number, number, number];
      const side = /left/.test(a.position) ? "left" : "right";
      const edge = /top/.test(a.position) ? "top" : "bottom";
      const css = ":host{all:initial;position:fixed;z-index:2147483000;" + side + ":20px;" + edge + ":20px}" +
        "button{width:56px;height:56px;border:0;border-radius:50%;cursor:pointer;background:" + colour + ";color:" + (r * 0.299 + g * 0.587 + b * 0.114 > 160 ? "#15130f" : "#fff") + ";box-shadow:0 4px 16px #0004;display:grid;place-items:center}" +
        "button:focus-visible{outline:3px solid #1d4ed8;outline-offset:2px}" +
        "b{position:absolute;top:-3px;right:-3px;min-width:10px;padding:2px 5px;border-radius:10px;background:#b3261e;color:#fff;font:600 12px/16px system-ui}b:empty{display:none}" +
        "iframe{display:none;position:absolute;" + side + ":0;" + edge + ":68px;width:380px;height:min(620px,calc(100vh - 110px));border:0;border-radius:16px;box-shadow:0 8px 40px #0005;background:#fff;color-scheme:normal}" +
        ":host(.o) iframe{display:block}@media(max-width:480px){:host(.o) iframe{position:fixed;inset:0;width:100%;height:100%;border-radius:0}:host(.o) button{display:none}}" +
        (a.animation ? "@media(prefers-reduced-motion:no-preference){button{animation:a 2s 4}}@keyframes a{50%{scale:1.08}}" : "");
      // A made sheet, which a site's policy for styles does not concern.
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(css);
      root.adoptedStyleSheets = [sheet];
      title = a.title || "Chat";
      button.setAttribute("aria-label", title);
      const place = () => { if (!host.isConnected) document.body.append(host); };
      place();
      new MutationObserver(place).observe(document.body, { childList: true }); // single-page navigation may replace the body's content
      waiting.forEach(run);
    })
    .catch((e) => console.warn("carillon:", e));
})();
