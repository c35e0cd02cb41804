// The tag that a page embeds: <script async src="{widget_url}/embed/voice.js" widget="<id>" customer="<key>" language-lovi="es"></script>
// A button in a closed shadow root; the iframe in which one talks is made when it is first opened. Loaded twice it stays one.
//
//   carillonVoice("open" | "close" | "toggle" | "hide" | "show"), carillonVoice("setUser", jwt),
//   carillonVoice("on", "open" | "close" | "ready" | "state", f), carillonVoice("tool", name, f): f does what the agent asks the page for
//
// Calls from before it has loaded: carillonVoice = function () { (carillonVoice.q = carillonVoice.q || []).push(arguments) }.
import {
  animation,
  dress,
  hex,
  selectorOf,
  visitorOf,
  warn,
  watchPolicy,
  type Api,
  type Call,
  type Listeners,
} from "./parts";

(() => {
  const w = window as unknown as { carillonVoice?: Api; carillon?: Api };
  const tag = (document.currentScript || document.querySelector(selectorOf("voice"))) as HTMLScriptElement | null;
  if (!tag) return warn("no " + selectorOf("voice"));
  if (w.carillonVoice?.on) return;
  const attribute = (name: string) => tag.getAttribute(name) || "";
  const home = new URL(tag.src).origin;
  watchPolicy(home);
  const widget = attribute("widget");
  const key = attribute("customer");
  const language = attribute("language-lovi") || document.documentElement.lang || navigator.language;
  const listeners: Listeners = {};
  const emit = (name: string, value?: unknown) => listeners[name]?.forEach((f) => f(value));
  const tools: Record<string, (parameters: unknown) => unknown> = {};
  let data:
    | {
        texts?: Record<string, string>;
        colors?: Record<string, string>;
        name?: string;
        position?: string;
        animation?: string;
      }
    | undefined;
  let customer: object | undefined;
  let frame: HTMLIFrameElement | undefined;
  let open = false;
  let peer: string | undefined; // whom messages are for, once the frame has loaded
  let identity: string | undefined;

  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "closed" });
  const button = document.createElement("button");
  button.ariaExpanded = open as never; // a boolean becomes its word
  button.onclick = () => show(!open);
  root.append(button);
  // Until the frame has loaded, its window is an empty page of the site: the browser would warn and deliver nothing.
  const post = (message: unknown) => peer && frame!.contentWindow?.postMessage(message, peer);

  const show = (to: boolean) => {
    if (to && !frame) {
      frame = document.createElement("iframe");
      frame.allow = "microphone; autoplay";
      frame.src = home + "/?vw_id=" + widget;
      frame.title = button.ariaLabel!;
      root.append(frame);
      w.carillon?.("on", "open", () => open && show(false)); // the chat would cover it
    }
    open = to;
    host.classList.toggle("o", to);
    button.ariaExpanded = to as never;
    post({ type: to ? "opened" : "closed" });
    (to ? frame! : button).focus();
    emit(to ? "open" : "close");
  };

  addEventListener("message", (e) => {
    // In a sandboxed frame neither this page nor the frame's has an origin.
    if (!frame || e.source !== frame.contentWindow || (e.origin !== home && e.origin + origin !== "nullnull")) return;
    peer = e.origin === home ? home : "*";
    const { type, id, name, parameters, state } = e.data || {};
    if (type === "get_widget") post({ type, widgetData: data });
    if (type === "get_customer")
      post({
        type,
        customer: {
          ...(customer ??= visitorOf("carillon.visitor." + widget)),
          access_key: key,
          language,
          identity,
          page: location.origin + location.pathname,
        },
      });
    if (type === "tool")
      (async () => tools[name]!(parameters))().then(
        (result) => post({ type, id, result }),
        (failed) => post({ type, id, failed: "" + failed }),
      );
    if (type === "state") host.classList.toggle("l", /ing/.test(state));
    if (type === "close") show(false);
    else emit(type, state);
  });

  const run = ([name, value, f]: Call) => {
    const to = { open: true, close: false, toggle: !open }[name];
    if (to !== undefined) show(to);
    host.style.display = { hide: "none", show: "" }[name] ?? host.style.display;
    if (name === "setUser") post({ type: "set_user", identity: (identity = value as string) });
    if (name === "on") (listeners[value as string] ??= []).push(f as () => void);
    if (name === "tool") tools[value as string] = f as () => void;
  };
  // What is called before the configuration is there waits for it.
  const waiting = (w.carillonVoice?.q || []) as Call[];
  const api: Api = (...call) => {
    if (data) run(call);
    else waiting.push(call);
  };
  api.on = 1;
  w.carillonVoice = api;

  (async () => {
    const r = await fetch(
      home + `/functions/v1/voice-widget?access_key=${key}&id_widget=${widget}&language=${language}`,
    );
    if (!r.ok) throw r.status;
    const d = (data = (await r.json()) as NonNullable<typeof data>);
    const colours = d.colors || {};
    const colour = hex(colours.primary, "#2f5bd7");
    // Beside the chat's button, where there is one.
    dress(
      host,
      root,
      d.position!,
      colour,
      hex(colours.on_primary, "#fff"),
      document.querySelector(selectorOf("chat")) ? 88 : 20,
      "M3 10h2v4h-2zm4-3h2v10h-2zm4-3h2v16h-2zm4 3h2v10h-2zm4 3h2v4h-2z",
      (d.animation && d.animation !== "none" ? animation : "") +
        ":host(.l) button{box-shadow:0 0 0 5px " +
        colour +
        "66}",
    );
    button.ariaLabel = d.texts?.button || d.name!;
    waiting.forEach(run);
  })().catch(warn);
})();
