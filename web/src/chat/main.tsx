import "../shared/tokens.css";
import "./style.css";
import { render } from "preact";
import { onColour } from "../shared/colour";
import { Host } from "../shared/host";
import { Api } from "./api";
import { Chat } from "./chat";
import type { Customer, WidgetData } from "./host";
import { empty } from "./model";
import { App } from "./parts/App";
import { Failed } from "./parts/Failed";
import { direction, textsFor, textsIn, type Texts } from "./texts";

const root = document.getElementById("root")!;
const host = new Host<WidgetData, Customer>();

/** theme follows the system. */
function theme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const set = () => {
    document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
  };
  dark.addEventListener("change", set);
  set();
}

/** colour gives the page the widget's colour, and a text colour that can be read on it. */
function colour(widget: WidgetData): void {
  const hex = widget.appearance?.primary_color;
  const style = document.documentElement.style;
  if (!hex || !/^#[0-9a-f]{6}$/i.test(hex)) {
    style.removeProperty("--brand");
    style.removeProperty("--on-brand");
    return;
  }
  style.setProperty("--brand", hex);
  style.setProperty("--on-brand", onColour(hex));
}

/** dress gives the page the widget's language, colour and texts. */
function dress(widget: WidgetData): { language: string; texts: Texts } {
  const language = widget.language || navigator.language || "en";
  document.documentElement.lang = textsIn(language, widget.texts);
  document.documentElement.dir = direction(language);
  colour(widget);
  const texts = textsFor(language, widget.texts);
  document.title = widget.appearance?.title || texts.title;
  return { language, texts };
}

/** preview shows how the widget looks, with what its designer has said in it: there is no session, and nothing can be touched. */
function preview(widget: WidgetData): void {
  const { texts } = dress(widget);
  const { turns, theme: shown } = widget.preview!;
  if (shown) document.documentElement.dataset.theme = shown;
  document.body.inert = true;
  const chat = {
    model: { ...empty, phase: "ready", turns },
    widget,
    limits: { text: 4000, file: 1, types: [] },
    subscribe: () => () => {},
  };
  render(<App chat={chat as unknown as Chat} host={host} texts={texts} />, root);
}

async function begin(): Promise<void> {
  const browser = navigator.language || "en";
  try {
    const [widget, customer] = await Promise.all([host.widget(), host.customer()]);
    if (widget.preview) {
      host.onWidget = (shown) => {
        if (shown.preview) preview(shown);
      };
      preview(widget);
      return;
    }
    const { language, texts } = dress(widget);
    const base = document.querySelector<HTMLMetaElement>('meta[name="carillon-api"]')?.content || location.origin;
    const chat = new Chat(new Api(base), host, widget, customer, language);
    host.onWidget = (again) => chat.offer(again.voice);
    render(<App chat={chat} host={host} texts={texts} />, root);
    host.tell("ready");
    await chat.run();
  } catch {
    render(<Failed texts={textsFor(browser)} retry={() => location.reload()} />, root);
  }
}

theme();
void begin();
