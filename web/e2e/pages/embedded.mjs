// The widgets on a customer's page and the demo's page: wide and on a phone, light and dark, in each language.
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { accessible, fits, ready, shot, site } from "../browser.mjs";
import { newCompany, stranger } from "../world.mjs";
import { opening, page, tag } from "../widgets.mjs";

const widths = [1280, 390];
const schemes = ["light", "dark"];

/** widgets are what a page embeds, with what is in the address of its frame, what says that it is there, and its first words by language. */
const widgets = {
  chat: {
    api: "carillon",
    id: "cw_id=",
    there: "footer textarea",
    says: { en: "Hello, how can we help?", es: "Hola, ¿en qué podemos ayudar?", "pt-BR": "Olá, como podemos ajudar?" },
  },
  voice: {
    api: "carillonVoice",
    id: "vw_id=",
    there: "h1",
    says: { en: "Ask about our tours", es: "Pregunte por excursiones", "pt-BR": "Pergunte sobre passeios" },
  },
};

let company;

/** opened is the frame of a widget on a page in a language. */
async function opened(t, name, lang, width) {
  const { api, id, there } = widgets[name];
  const body =
    name === "chat" ? tag(company) : tag(company, "", company.voice_widget_id).replace("chat.js", "voice.js");
  const host = await site("shop", page(body, lang));
  t.after(() => host.close());
  const { p } = await stranger(t, { viewport: { width, height: 780 } });
  await p.goto(host.url);
  await p.waitForFunction((name) => globalThis[name]?.on, api);
  const loaded = opening(p, id);
  await p.evaluate((name) => globalThis[name]("open"), api);
  const frame = await loaded;
  await frame.locator(there).waitFor();
  return { p, frame };
}

for (const [name, { says }] of Object.entries(widgets)) {
  describe(`the ${name} on a page`, () => {
    before(async () => {
      company ??= await newCompany();
    });

    for (const width of widths) {
      it(`has no fault that axe finds at ${width}, light and dark`, async (t) => {
        const { p, frame } = await opened(t, name, "en", width);
        for (const colorScheme of schemes) {
          await p.emulateMedia({ colorScheme, reducedMotion: "reduce" });
          await accessible(frame, `the ${name} at ${width}, ${colorScheme}`);
          await shot(p, `${name}-${width}-${colorScheme}`);
        }
        await fits(frame, `the ${name} at ${width}`);
      });
    }

    it("is written in each language, and fits a phone", async (t) => {
      for (const [lang, text] of Object.entries(says)) {
        const { frame } = await opened(t, name, lang, 390);
        await frame.getByText(text).waitFor();
        assert.equal(await frame.evaluate(() => document.documentElement.lang.slice(0, 2)), lang.slice(0, 2));
        await fits(frame, `the ${name} in ${lang}`);
      }
    });
  });
}

describe("the demo's page", () => {
  const heading = {
    en: "The city looks best from the water",
    es: "La ciudad se ve mejor desde el agua",
    pt: "A cidade é mais bonita vista da água",
  };
  for (const width of widths) {
    it(`shows the chat of the demo at ${width}, light and dark, in each language`, async (t) => {
      const { p } = await stranger(t, { viewport: { width, height: 780 } });
      const logged = [];
      p.on("console", (m) => {
        if (m.type() === "error") logged.push(m.text());
      });
      await p.goto(ready.demo_url);
      for (const [lang, name] of Object.entries(heading)) {
        await p.locator(`nav a[hreflang=${lang}]`).click();
        await p.getByRole("heading", { name }).waitFor();
        await fits(p, `the demo's page in ${lang}`);
      }
      await p.locator("nav a[hreflang=es]").click();
      await p.getByRole("heading", { name: heading.es }).waitFor();
      await p.waitForFunction(() => globalThis.carillon?.on);
      for (const colorScheme of schemes) {
        await p.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await accessible(p, `the demo's page at ${width}, ${colorScheme}`);
        await shot(p, `demo-${width}-${colorScheme}`);
      }
      const loaded = opening(p);
      await p.getByRole("button", { name: "Pregúntenos lo que quiera" }).click();
      await (await loaded).getByText("Hola, ¿en qué podemos ayudar?").waitFor();
      assert.deepEqual(logged, [], "errors of the console");
    });
  }
});
