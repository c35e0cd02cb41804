// A widget as the designer of the panel shows it: a screen without a conversation.
import type { Widget } from "./host";
import { empty, reduce, type Model } from "./model";
import { textsFor } from "./texts";
import type { Voice } from "./voice";

/** shownIn is as much of a Voice as a screen needs. */
export function shownIn(widget: Widget): Voice {
  const language = widget.language || "en";
  let model: Model = empty;
  if (widget.preview!.screen !== "start" && widget.preview!.screen) {
    model = reduce(reduce(model, { do: "begin", speaking: true, sound: true, at: 0 }), {
      do: "response",
      id: 1,
      text: widget.welcome || widget.name,
      whole: true,
      at: 0,
    });
    model = reduce(reduce(model, { do: "shown", id: 1, shown: 0, done: true }), { do: "state", state: "listening" });
    model = reduce(model, {
      do: "mic",
      mic: { on: widget.hearing !== false || !!widget.browser_hearing, muted: false },
    });
    if (widget.preview!.screen === "ended") model = reduce(model, { do: "ended", left: false, at: 74_000 });
  }
  return {
    model,
    widget,
    language,
    texts: textsFor(language, widget.texts),
    canListen: widget.hearing !== false || !!widget.browser_hearing,
    understands: widget.hearing !== false || !!widget.browser_hearing,
    hearing: { plan: {} },
    subscribe: () => () => {},
  } as unknown as Voice;
}
