// The demo's page, with the chat on it.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accessible, ready, shot } from "../browser.mjs";
import { stranger } from "../world.mjs";
import { opening, page } from "../widgets.mjs";

describe("the demo's page", () => {
  for (const [name, options] of [["light", {}], ["dark", { colorScheme: "dark" }], ["phone", { viewport: { width: 390, height: 780 } }]]) {
    it(`shows the chat of the demo, ${name}`, async (t) => {
      const { p } = await stranger(t, options);
      const logged = [];
      p.on("console", (m) => { if (m.type() === "error") logged.push(m.text()); });
      await p.goto(ready.demo_url);
      await p.locator("nav a[hreflang=es]").click();
      await p.getByRole("heading", { name: "La ciudad se ve mejor desde el agua" }).waitFor();
      await p.waitForFunction(() => globalThis.carillon?.on);
      await accessible(p, "the demo's page, " + name);
      assert.equal(await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, "it scrolls sideways");
      await shot(p, "demo-" + name);
      const loaded = opening(p);
      await p.getByRole("button", { name: "Pregúntenos lo que quiera" }).click();
      const frame = await loaded;
      await frame.getByText("Hola, ¿en qué podemos ayudar?").waitFor();
      await shot(p, "demo-open-" + name);
      assert.deepEqual(logged, [], "errors of the console");
    });
  }
});
