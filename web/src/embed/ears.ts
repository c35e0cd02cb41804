// Loaded by the voice widget's tag where its page has the attribute `hearing`: recognises speech in that page, where the browser
// can do so on the device, and passes the words to the widget's frame.
import { installed, localOf, Recogniser } from "../shared/voice/recogniser";

let recogniser: Recogniser | undefined;

/** ears does what the frame asks for. */
export async function ears(
  m: { do: string; lang: string; phrases?: string[] },
  post: (message: unknown) => void,
): Promise<void> {
  const say = (more: object) => post({ type: "ears", ...more });
  if (m.do === "look") say({ local: await localOf(m.lang) });
  if (m.do === "fetch") say({ local: (await installed(m.lang)) ? "available" : "unavailable" });
  if (m.do === "stop") recogniser?.stop();
  if (m.do !== "start") return;
  if (recogniser?.offer.lang !== m.lang) {
    recogniser?.stop();
    recogniser = new Recogniser({ local: true, lang: m.lang, track: false }, m.phrases);
    recogniser.onState = (state, error) => say({ state, error });
    recogniser.onHypothesis = (heard) => say({ heard });
  }
  recogniser.start();
}
