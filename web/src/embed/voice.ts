// The tag that a page embeds: <script async src="{widget_url}/embed/voice.js" widget="<id>" customer="<key>" language-lovi="es"></script>
// A button in a closed shadow root; the iframe in which one talks is made when it is first opened. Loaded twice it stays one.
//
//   carillonVoice("open" | "close" | "toggle" | "hide" | "show"), carillonVoice("setUser", jwt),
//   carillonVoice("on", "open" | "close" | "ready" | "state", f), carillonVoice("tool", name, f): f does what the agent asks the page for
//
// Calls from before it has loaded: carillonVoice = function () { (carillonVoice.q = carillonVoice.q || []).push(arguments) }.
import { animation, dress, hex, styleOf, visitorOf, type Api, type Call, type Listeners } from "./parts";

(() => {
  const w = window as unknown as { carillonVoice?: Api; carillon?: Api };
  const tag = document.currentScript as HTMLScriptElement | null;
  if (!tag || w.carillonVoice?.on) return;
  const attribute = (name: string) => tag.getAttribute(name) || "";
  const origin = new URL(tag.src).origin;
  const widget = attribute("widget");
  const key = attribute("customer");
  const language = attribute("language-lovi") || document.documentElement.lang || navigator.language;
  const listeners: Listeners = {};
  const emit = (name: string, value?: unknown) => listeners[name]?.forEach((f) => f(value));
  const tools: Record<string, (parameters: unknown) => unknown> = {};
  let data: { texts?: Record<string, string>; colors?: Record<string, string>; name?: string; position?: string; animation?: string } | undefined;
  let customer: object | undefined;
  let frame: HTMLIFrameElement | undefined;
  let open = false;
  let loaded = false;
  let identity: string | undefined;

  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "closed" });
  const button = document.createElement("button");
  button.innerHTML = '<svg viewBox="0 0 24 24" width="26" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" aria-hidden="true"><path d="M4 10v4M8 7v10M12 4v16M16 8v8M20 10v4"/></svg>';
  button.ariaExpanded = "false";
  button.onclick = () => show(!open);
  root.append(button);
  // Until the frame has loaded, its window is an empty page of the site: the browser would warn and deliver nothing.
  const post = (message: unknown) => loaded && frame!.contentWindow?.postMessage(message, origin);
  const label = () => data!.texts?.button || data!.name!;

  const show = (to: boolean) => {
    if (to && !frame) {
      frame = document.createElement("iframe");
      frame.allow = "microphone; autoplay";
      frame.src = origin + "/?" + new URLSearchParams({ vw_id: widget });
      frame.title = label();
      root.append(frame);
      w.carillon?.("on", "open", () => { if (open) show(false); }); // the chat would cover it
    }
    open = to;
    host.classList.toggle("o", to);
    button.ariaExpanded = "" + to;
    post({ type: to ? "opened" : "closed" });
    if (to) frame!.focus(); else button.focus();
    emit(to ? "open" : "close");
  };

  addEventListener("message", (e) => {
    if (!frame || e.source !== frame.contentWindow || e.origin !== origin) return;
    loaded = true;
    const { type, id, name, parameters, state } = e.data || {};
    if (type === "get_widget") post({ type, widgetData: data });
    if (type === "get_customer") post({ type, customer: { ...(customer ??= visitorOf("carillon.visitor." + widget)), access_key: key, language, identity, page: location.href.split(/[?#]/)[0] } });
    if (type === "tool") (async () => tools[name]!(parameters))().then((result) => post({ type, id, result }), (failed) => post({ type, id, failed: "" + failed }));
    if (type === "state") host.classList.toggle("l", !/idle|ended|error/.test(state));
    if (type === "close") show(false);
    else emit(type, state);
  });

  const run = ([name, value, f]: Call) => {
    if (/^(open|close|toggle)$/.test(name)) show(name === "open" || (name === "toggle" && !open));
    if (name === "hide" || name === "show") host.style.display = name === "hide" ? "none" : "";
    if (name === "setUser") { identity = value as string; post({ type: "set_user", identity }); }
    if (name === "on") (listeners[value as string] ??= []).push(f as () => void);
    if (name === "tool") tools[value as string] = f as () => void;
  };
  // What is called before the configuration is there waits for it.
  const waiting = [...(w.carillonVoice?.q || [])] as Call[];
  const api: Api = (...call) => { if (data) run(call); else waiting.push(call); };
  api.on = 1;
  w.carillonVoice = api;

  fetch(origin + "/functions/v1/voice-widget?" + new URLSearchParams({ id_widget: widget, access_key: key, language }))
    .then((r) => (r.ok ? r.json() : Promise.reject(r.status)))
    .then((d) => {
      data = d;
      const colours = d.colors || {};
      const colour = hex(colours.primary, "#2f5bd7");
      // Beside the chat's button, where there is one.
      dress(host, root, styleOf(d.position, colour, hex(colours.on_primary, "#fff"), document.querySelector('script[src*="/embed/chat.js"]') ? 88 : 20) + (d.animation && d.animation !== "none" ? animation : "") +
        ":host(.l) button{box-shadow:0 0 0 5px " + colour + "66}");
      button.ariaLabel = label();
      waiting.forEach(run);
    })
    .catch((e) => console.warn("carillon:", e));
})();
