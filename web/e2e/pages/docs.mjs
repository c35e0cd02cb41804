// The documentation: the reference with the viewer's own key, trying an operation, the guides, the search.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, fits, shot } from "../browser.mjs";
import { newCompany, open, stranger } from "../world.mjs";

let company;

async function dark(page, yes) {
  await page.emulateMedia({ colorScheme: yes ? "dark" : "light", reducedMotion: "reduce" });
  await page.waitForFunction((scheme) => document.documentElement.dataset.theme === scheme, yes ? "dark" : "light");
}

const pages = [
  "/docs",
  "/docs/api",
  "/docs/api/account",
  "/docs/guides/install",
  "/docs/reference/errors",
  "/docs/adr",
  "/docs/search?q=idempotency",
];

describe("the documentation", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("is read on any screen, light and dark, by keyboard", async (t) => {
    const { p } = await stranger(t);
    const refused = [];
    p.on("console", (m) => {
      if (/Content.Security.Policy|Trusted/i.test(m.text())) refused.push(m.text());
    });
    for (const path of pages) {
      await p.goto(company.base_url + path);
      for (const width of [1280, 390]) {
        await p.setViewportSize({ width, height: 900 });
        for (const yes of [false, true]) {
          await dark(p, yes);
          await accessible(p, `${path} at ${width}${yes ? ", dark" : ""}`);
        }
        await fits(p, `${path} at ${width}`);
        await shot(p, `docs${path.replace(/\W+/g, "-")}-${width}`);
      }
    }
    for (const path of ["/docs/api/notifications", "/docs/api/widgets", "/docs/reference/roles", "/docs/settings"]) {
      await p.goto(company.base_url + path);
      await fits(p, path);
    }
    // On a small screen the pages are behind a button, and Escape closes them.
    await p.goto(company.base_url + "/docs/guides/install");
    assert.equal(await p.locator("#pages").isVisible(), false);
    await p.locator("#menu").click();
    await p.getByRole("link", { name: "The sandbox" }).waitFor();
    await accessible(p, "the list of pages");
    await p.keyboard.press("Escape");
    await p.locator("#pages").waitFor({ state: "hidden" });
    assert.equal(await p.evaluate(() => document.activeElement.id), "menu");
    // The slash leads to the search, Enter to what it finds.
    await p.setViewportSize({ width: 1280, height: 800 });
    await p.locator("main").focus();
    await p.keyboard.press("/");
    await p.keyboard.type("idempotency_key_reused");
    await p.keyboard.press("Enter");
    await p.locator(".hits a").first().click();
    await p.waitForURL(/\/docs\/(api|reference)\//);
    // What is found shows while typing; the arrow keys lead to it, Escape closes it.
    await p.locator("main").focus();
    await p.keyboard.press("/");
    await p.keyboard.type("webhook signature");
    const found = p.getByRole("region", { name: "Search results" });
    await found
      .getByRole("link", { name: /Webhooks and events/ })
      .first()
      .waitFor();
    await accessible(p, "hits below the field");
    await p.keyboard.press("Escape");
    await found.waitFor({ state: "hidden" });
    assert.equal(await p.evaluate(() => document.activeElement.id), "q");
    await p.keyboard.type("s");
    await found.getByRole("link").first().waitFor();
    await p.keyboard.press("ArrowDown");
    assert.equal(
      await found
        .getByRole("link")
        .first()
        .evaluate((x) => x === document.activeElement),
      true,
    );
    await p.keyboard.press("ArrowUp");
    await p.keyboard.press("Control+a");
    await p.keyboard.type("nothinghasthis");
    await found.getByText("Nothing has all of these words").waitFor();
    await p.keyboard.press("Control+a");
    await p.keyboard.press("Delete");
    await found.waitFor({ state: "hidden" });
    // The theme that is chosen is the panel's too.
    await p.locator("#theme").click();
    assert.equal(await p.evaluate(() => localStorage.getItem("carillon.theme")), "light");
    assert.deepEqual(refused, []);
  });

  it("shows examples with the viewer's key, and sends them, without keeping it", async (t) => {
    const { p } = await stranger(t);
    const asked = [];
    p.on("request", (r) => asked.push(r.url()));
    await p.goto(company.base_url + "/docs/api/notifications");
    const send = p.locator("#sendNotification");
    assert.match(await send.locator("[data-code=curl]").textContent(), /access_key=\$ACCESS_KEY/);
    await send.getByRole("button", { name: "Go", exact: true }).click();
    await p.locator("#readNotification [data-code=go]").waitFor();
    // Without a key it asks for one; a wrong one is refused in words.
    const form = send.locator("form.try");
    await form.locator("summary").click();
    await form.getByRole("button", { name: "Send" }).click();
    await p.getByRole("dialog").waitFor();
    await accessible(p, "the dialog for a key");
    await p.getByLabel("Key", { exact: true }).fill("wrong key");
    await p.keyboard.press("Enter");
    await p.getByText("no spaces").waitFor();
    await p.getByLabel("Key", { exact: true }).fill("ck_wrong_wrong_wrong");
    await p.keyboard.press("Enter");
    await p.getByRole("dialog").waitFor({ state: "hidden" });
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText("Choose another key").waitFor();
    await p.locator("#key").click();
    await p.getByText("Sign in to the panel in this browser").waitFor();
    await p.getByLabel("Key", { exact: true }).fill(company.access_key);
    await p.getByRole("button", { name: "Use it" }).click();
    assert.ok((await send.locator("[data-code=go]").textContent()).includes(`access_key=${company.access_key}`));
    await send
      .locator(".copyable", { has: p.locator("[data-code=go]") })
      .getByRole("button", { name: /Cop/ })
      .click();
    await send.getByRole("button", { name: "Copied" }).waitFor();
    assert.ok((await p.evaluate(() => navigator.clipboard.readText())).includes(company.access_key));
    await form.getByRole("button", { name: "Send" }).click();
    await form.locator(".status.ok", { hasText: "200" }).waitFor();
    const id = JSON.parse(await form.locator(".result code").textContent()).notification_id;
    const read = p.locator("#readNotification form.try");
    await read.locator("summary").click();
    await read.locator("input[name=id]").fill(id);
    await read.getByRole("button", { name: "Send" }).click();
    await read.locator(".result", { hasText: "booking_confirmed" }).waitFor();
    await form.locator("textarea").fill("{");
    await form.getByRole("button", { name: "Send" }).click();
    await form.getByText("The body is not JSON").waitFor();
    await form.locator("textarea").fill("{}");
    await form.getByRole("button", { name: "Send" }).click();
    await form.locator(".result", { hasText: "validation_failed" }).waitFor();
    await accessible(p, "a refused request");
    // The key is in no address, and nowhere after a reload.
    assert.deepEqual(
      asked.filter((url) => url.includes(company.access_key)),
      [],
    );
    assert.equal(
      await p.evaluate(
        (k) =>
          JSON.stringify([
            { ...localStorage },
            { ...sessionStorage },
            document.cookie,
            location.href,
            history.state,
          ]).includes(k),
        company.access_key,
      ),
      false,
    );
    await p.reload();
    assert.match(await send.locator("[data-code=curl]").textContent(), /\$ACCESS_KEY/);
    assert.equal(await p.evaluate((k) => document.documentElement.outerHTML.includes(k), company.access_key), false);
  });

  it("lists the company's keys to who may see them, and creates one for an hour", async (t) => {
    const p = await open(t, company, "/keys");
    await p.goto(company.base_url + "/docs/api/account");
    await p.locator("#key").click();
    await p.getByRole("button", { name: "demo · ck_demo_…" }).click();
    await p.getByText("Paste the one that begins with ck_demo_").waitFor();
    await accessible(p, "the company's keys");
    await shot(p, "docs-keys");
    await p.getByRole("button", { name: "New key for one hour" }).click();
    await p.getByRole("dialog").waitFor({ state: "hidden" });
    const usage = p.locator("#usage form.try");
    await usage.locator("summary").click();
    await usage.getByRole("button", { name: "Send" }).click();
    await usage.locator(".result", { hasText: "reset_time" }).waitFor();
  });
});
