// The chat on a customer's page, as a visitor uses it.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, context, shot, site } from "../browser.mjs";
import { browser, newCompany, stranger, until } from "../world.mjs";
import { chatOf, page, say, tag, visitor } from "../widgets.mjs";

let company;

describe("the chat on a page of another site", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("welcomes in the page's language, keeps the thread over a reload, and offers a person", async (t) => {
    const host = await site("shop", page(tag(company), "es"));
    t.after(() => host.close());
    const c = await context(browser, { reducedMotion: "no-preference" });
    t.after(async () => {
      c.check();
      await c.close();
    });
    const p = await c.newPage();
    const said = [];
    p.on("console", (m) => said.push(m.text()));
    await p.goto(host.url);
    let frame = await chatOf(p);
    await frame.getByText("Hola, ¿en qué podemos ayudar?").waitFor();
    await say(frame, "¿Hay vida en la luna de queso xyzzy?");
    await frame.getByText("¿Hay vida en la luna de queso xyzzy?").waitFor();
    await frame.getByRole("button", { name: "Hablar con una persona" }).click();
    await frame.getByLabel("Su correo electrónico").waitFor(); // nobody is there
    await accessible(frame, "the chat, light");
    await frame.getByLabel("Su correo electrónico").fill("no es un correo");
    await frame.getByRole("button", { name: "Enviar" }).first().click();
    await frame.getByRole("alert").waitFor();
    await p.reload();
    frame = await chatOf(p);
    await frame.getByText("¿Hay vida en la luna de queso xyzzy?").waitFor();
    await shot(p, "chat-embedded");
    assert.deepEqual(
      said.filter((x) => x.includes("postMessage")),
      [],
      "what the site's console says",
    );
  });

  it("is answered from the company's knowledge with its source, in two languages, and honestly where there is none", async (t) => {
    for (const [lang, question, answer, title, address, unknown] of [
      [
        "en",
        "How much does shipping cost?",
        "Shipping costs 4.90 euros",
        "Shipping and delivery of shop orders",
        "https://harbour.test/en/shipping",
        "I couldn't find that.",
      ],
      [
        "es",
        "¿Cuánto cuesta el envío?",
        "El envío cuesta 4,90 euros",
        "Envío y entrega de pedidos",
        "https://harbour.test/es/envios",
        "No he encontrado esa información.",
      ],
    ]) {
      const { p, frame } = await visitor(t, company, { lang });
      await say(frame, question);
      await frame.locator(".bubble", { hasText: answer }).waitFor();
      const source = frame.getByRole("link", { name: title });
      assert.equal(await source.getAttribute("href"), address);
      assert.match(await source.getAttribute("rel"), /noopener/);
      await say(frame, "xyzzy plugh?");
      await frame.locator(".bubble", { hasText: unknown }).waitFor();
      await accessible(frame, "an answer with its source");
      await shot(p, "chat-source-" + lang);
    }
  });

  it("sends what was written while the network was away, once and in order", async (t) => {
    const { c, frame } = await visitor(t, company);
    await say(frame, "first");
    await frame.getByText("Sent").first().waitFor();
    await c.setOffline(true);
    for (const text of ["second", "third", "fourth"]) await say(frame, text);
    await frame.getByText("You're offline").waitFor();
    await c.setOffline(false);
    await frame.locator(".pending").first().waitFor({ state: "detached" });
    await until(
      async () => (await frame.locator(".me .bubble").allTextContents()).join() === "first,second,third,fourth",
      "all are there, in order",
    );
  });

  it("can be used by keyboard, on a phone, in the dark, from right to left, with less motion", async (t) => {
    const { p, frame } = await visitor(t, company, {
      body: tag(company, 'lang="ar"'),
      viewport: { width: 390, height: 780 },
      colorScheme: "dark",
    });
    assert.equal(await frame.evaluate(() => document.documentElement.dir), "rtl");
    await frame.locator("footer textarea").focus();
    await p.keyboard.type("hello");
    await p.keyboard.press("Enter");
    await frame.getByText("hello", { exact: true }).waitFor();
    await frame.getByText("Sent").first().waitFor();
    await accessible(frame, "the chat, dark, from right to left");
    await shot(p, "chat-phone-dark-rtl");
    const box = await p.evaluate(() => innerWidth);
    assert.equal(
      await frame.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      true,
      "it scrolls sideways at " + box,
    );
    await p.keyboard.press("Escape");
    await p.waitForFunction(() => document.activeElement?.shadowRoot === null || document.activeElement !== null);
  });

  it("shows the conversation where the browser draws no frames for a while", async (t) => {
    const host = await site("shop", page(tag(company)));
    const c = await context(browser);
    t.after(async () => {
      await c.close();
      await host.close();
    });
    await c.addInitScript(() => {
      globalThis.requestAnimationFrame = () => 0;
      const later = globalThis.setTimeout;
      globalThis.setTimeout = (f, ms, ...more) => later(f, ms < 200 ? 3_000 : ms, ...more);
    });
    const p = await c.newPage();
    await p.goto(host.url);
    const frame = await chatOf(p);
    await frame.getByText("how can we help?").waitFor();
  });

  it("stays one when its tag is there twice, and answers calls from before it loaded", async (t) => {
    const host = await site(
      "shop",
      page(
        `<script>window.carillon = function () { (carillon.q = carillon.q || []).push(arguments) }; carillon("on", "open", function () { document.title = "opened" }); carillon("open");</script>${tag(company)}${tag(company)}`,
      ),
    );
    t.after(() => host.close());
    const c = await context(browser);
    t.after(async () => {
      c.check();
      await c.close();
    });
    const p = await c.newPage();
    await p.goto(host.url, { waitUntil: "load" }); // both scripts have run
    await p.waitForFunction(() => document.title === "opened");
    assert.equal(p.frames().length, 2);
    await p.evaluate(() => {
      document.body.replaceChildren(document.createElement("main"));
    }); // single-page navigation
    await p.evaluate(() => {
      document.body.replaceWith(document.createElement("body"));
    });
    await p.waitForFunction(() => document.querySelectorAll("html > div").length === 1);
    assert.equal(p.frames().length, 2);
  });
});

describe("the wrapper page", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("shows the chat under both forms of its address, without a way to close it when that is not wanted", async (t) => {
    const { p } = await stranger(t);
    const forms = [
      `${company.base_url}/functions/v1/widgetWebView?customer_id=${company.access_key}&widget_id=${company.chat_widget_id}&lang=pt&showClose=false`,
      `${company.base_url}/functions/v1/widgetWebView/${company.access_key}/${company.chat_widget_id}?lang=pt`,
    ];
    for (const address of forms) {
      await p.goto(address);
      const frame = p.frames()[1];
      await frame.locator("footer textarea").waitFor();
      assert.equal(
        await frame.getByRole("button", { name: "Fechar" }).count(),
        address.includes("showClose=false") ? 0 : 1,
      );
    }
  });

  it("works in a page without an origin and without storage", async (t) => {
    const { p } = await stranger(t);
    const address = `${company.base_url}/functions/v1/widgetWebView?customer_id=${company.access_key}&widget_id=${company.chat_widget_id}`;
    const host = await site(
      "sandboxed",
      page(`<iframe sandbox="allow-scripts" style="width:400px;height:600px" src="${address}"></iframe>`),
    );
    t.after(() => host.close());
    await p.goto(host.url);
    await until(() => p.frames().length === 3, "the chat is in the frame");
    const frame = p.frames()[2];
    await frame.locator("footer textarea").waitFor();
    await say(frame, "hello from nowhere");
    await frame.getByText("Sent").first().waitFor();
  });
});
