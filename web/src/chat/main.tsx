import "../shared/tokens.css";
import "./style.css";
import { render } from "preact";
import { Api } from "./api";
import { Chat } from "./chat";
import { Host, type WidgetData } from "./host";
import { App } from "./parts/App";
import { Failed } from "./parts/Failed";
import { direction, textsFor } from "./texts";

const root = document.getElementById("root")!;
const host = new Host();

/** theme follows the system. */
function theme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const set = () => { document.documentElement.dataset.theme = dark.matches ? "dark" : "light"; };
  dark.addEventListener("change", set);
  set();
}

/** colour gives the page the widget's colour, and a text colour that can be read on it. */
function colour(widget: WidgetData): void {
  const hex = widget.appearance?.primary_color;
  if (!hex || !/^#[0-9a-f]{6}$/i.test(hex)) return;
  const style = document.documentElement.style;
  style.setProperty("--brand", hex);
  style.setProperty("--on-brand", luminance(hex) > 0.36 ? "#15130f" : "#ffffff");
}

function luminance(hex: string): number {
  const part = (at: number) => {
    const v = parseInt(hex.slice(at, at + 2), 16) / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

async function begin(): Promise<void> {
  const browser = navigator.language || "en";
  try {
    const [widget, customer] = await Promise.all([host.widget(), host.customer()]);
    const language = widget.language || browser;
    document.documentElement.lang = language;
    document.documentElement.dir = direction(language);
    colour(widget);
    const texts = textsFor(language, widget.texts);
    document.title = widget.appearance?.title || texts.title;
    const base = document.querySelector<HTMLMetaElement>('meta[name="carillon-api"]')?.content || location.origin;
    const chat = new Chat(new Api(base), host, widget, customer, language);
    render(<App chat={chat} host={host} texts={texts} />, root);
    host.tell("ready");
    await chat.run();
  } catch {
    render(<Failed texts={textsFor(browser)} retry={() => location.reload()} />, root);
  }
}

theme();
void begin();
