import "../shared/tokens.css";
import "./style.css";
import { render } from "preact";
import { Host } from "../shared/host";
import { Api } from "./api";
import type { Customer, Widget } from "./host";
import { lookOf } from "./look";
import { App } from "./parts/App";
import { Broken } from "./parts/Failed";
import { shownIn } from "./preview";
import { direction, textsFor, textsIn } from "./texts";
import { Voice } from "./voice";

const root = document.getElementById("root")!;
const host = new Host<Widget, Customer>();
const dark = matchMedia("(prefers-color-scheme: dark)");
let look = () => {};

/** dress gives the page the widget's colours, language and title, now and when the system turns dark or light. */
function dress(widget: Widget, language: string, title: string): void {
  const page = document.documentElement;
  page.lang = textsIn(language, widget.texts);
  page.dir = direction(language);
  document.title = title;
  look = () => {
    const { theme, properties } = lookOf(
      widget.colors,
      widget.preview?.theme ? widget.preview.theme === "dark" : dark.matches,
    );
    page.dataset.theme = theme;
    for (const name of [
      "--brand",
      "--on-brand",
      "--surface",
      "--surface-2",
      "--surface-3",
      "--border",
      "--text",
      "--muted",
    ]) {
      if (properties[name]) page.style.setProperty(name, properties[name]);
      else page.style.removeProperty(name);
    }
  };
  look();
}

/** preview shows how the widget looks in the designer of the panel; nothing can be touched. */
function preview(widget: Widget): void {
  const voice = shownIn(widget);
  dress(widget, voice.language, voice.texts.title);
  document.body.inert = true;
  render(<App voice={voice} host={host} />, root);
}

async function begin(): Promise<void> {
  try {
    const widget = await host.widget();
    if (widget.preview) {
      host.onWidget = (w) => {
        if (w.preview) preview(w);
      };
      preview(widget);
      return;
    }
    const customer = await host.customer();
    const language = widget.language || customer.language || navigator.language || "en";
    const base = document.querySelector<HTMLMetaElement>('meta[name="carillon-api"]')?.content || location.origin;
    const voice = new Voice(new Api(base, customer.access_key, widget.widget_id), host, widget, customer, language);
    let dressed = language;
    const changed = () => {
      if (dressed !== voice.language) dress(voice.widget, (dressed = voice.language), voice.texts.title);
    };
    host.onWidget = (again) => voice.join(again.chat);
    dress(widget, language, voice.texts.title);
    voice.subscribe(changed);
    render(<App voice={voice} host={host} />, root);
    host.tell("ready");
  } catch {
    render(<Broken texts={textsFor(navigator.language || "en")} />, root);
  }
}

dark.addEventListener("change", () => look());
look = () => {
  document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
};
look();
void begin();
