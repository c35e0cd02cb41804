// The tag that a page embeds: <script async src="{widget_url}/embed/voice.js" widget="<id>" customer="<key>" language-lovi="es"></script>
// With the attribute `hearing` the page itself recognises speech, where the browser can do that on the device (ears.ts).
// A button in a closed shadow root; the iframe in which one talks is made when it is first opened. Loaded twice it stays one.
//
//   carillonVoice("open" | "close" | "toggle" | "hide" | "show"), carillonVoice("setUser", jwt),
//   carillonVoice("on", "open" | "close" | "ready" | "state", f), carillonVoice("tool", name, f): f does what the agent asks the page for
//
// Calls from before it has loaded: carillonVoice = function () { (carillonVoice.q = carillonVoice.q || []).push(arguments) }.
//
// Where the page also has a chat, its button stands for both.
import {
  dress,
  selectorOf,
  visitorOf,
  warn,
  watchPolicy,
  type Api,
  type Call,
  type Launcher,
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
  const recognition = tag.getAttribute("hearing") !== null;
  const tools: Record<string, (parameters: unknown) => unknown> = {};
  let data: { launcher: Launcher; hearing?: boolean; browser_hearing?: string; chat?: boolean } | undefined;
  let restyle: (css: string) => void;
  let talking = false;
  let customer: object | undefined;
  let frame: HTMLIFrameElement | undefined;
  let open = false;
  let peer: string | undefined; // whom messages are for, once the frame has loaded
  let identity: string | undefined;

  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "closed" });
  const button = document.createElement("button");
  const label = document.createElement("i");
  button.append(label);
  button.onclick = () => show(!open);
  button.onkeydown = (e) => {
    if (e.key === "Escape" && open) show(false);
  };
  root.append(button);
  // Until the frame has loaded, its window is an empty page of the site: the browser would warn and deliver nothing.
  const post = (message: unknown) => peer && frame!.contentWindow?.postMessage(message, peer);

  const mark = () => {
    host.className = `${open ? "o x" : ""} ${talking ? "l" : ""} ${data!.chat ? "j" : ""}`;
    button.ariaExpanded = open as never; // a boolean becomes its word
    button.ariaLabel = data!.launcher[open ? "close" : "name"];
  };

  const show = (to: boolean) => {
    if (to && !frame) {
      frame = document.createElement("iframe");
      frame.allow = "microphone; autoplay";
      frame.src = home + "/?vw_id=" + widget;
      frame.title = data!.launcher.name;
      root.append(frame);
    }
    open = to;
    mark();
    post({ type: to ? "opened" : "closed" });
    emit(to ? "open" : "close");
    (to ? frame! : button).focus();
  };

  const stand = (css?: string) => {
    data!.chat = !!css;
    restyle(css || data!.launcher.css);
    mark();
    post({ type: "get_widget", widgetData: data });
  };
  const join = () => {
    const recognises = "SpeechRecognition" in w || "webkitSpeechRecognition" in w;
    const hearing = data!.hearing || (!!data!.browser_hearing && recognises);
    if (w.carillon?.on) w.carillon("join", { stand, host, hearing });
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
          hears: recognition,
        },
      });
    if (type === "tool")
      (async () => tools[name]!(parameters))().then(
        (result) => post({ type, id, result }),
        (failed) => post({ type, id, failed: "" + failed }),
      );
    if (type === "ears" && recognition)
      import(/* @vite-ignore */ home + "/embed/ears.js").then((m) => m.ears(e.data, post)).catch(warn);
    if (type === "state") {
      talking = /ing/.test(state);
      mark();
    }
    if (type === "close") show(false);
    else emit(type, state);
  });

  const run = ([name, value, f]: Call) => {
    const to = { open: true, close: false, toggle: !open }[name];
    if (to !== undefined) show(to);
    const display = { hide: "none", show: "" }[name];
    if (display !== undefined) {
      host.style.display = display;
      emit("shown");
    }
    if (name === "join") join();
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
      home + `/functions/v1/voice-widget?access_key=${key}&id_widget=${widget}&language=${language}&launcher=1`,
    );
    if (!r.ok) throw r.status;
    data = (await r.json()) as NonNullable<typeof data>;
    restyle = dress(host, root, data.launcher.css);
    label.textContent = data.launcher.label || "";
    mark();
    join();
    waiting.forEach(run);
  })().catch(warn);
})();
