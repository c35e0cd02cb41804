// The frame of all pages: search, shortcuts, themes, languages.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, shot } from "../browser.mjs";
import { newCompany, open } from "../world.mjs";

let company;

describe("the shell", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("is used by keyboard: search, shortcuts, themes, languages", async (t) => {
    const p = await open(t, company, "/keys");
    await p.getByRole("heading", { name: "API keys", exact: true, level: 1 }).waitFor();
    await p.keyboard.press("Control+k");
    await p.getByPlaceholder("Search or jump to…").waitFor();
    await p.keyboard.type("users");
    await accessible(p, "the search");
    await shot(p, "panel-palette");
    await p.keyboard.press("Enter");
    await p.getByRole("heading", { name: "Team", level: 1 }).waitFor();
    await p.getByPlaceholder("Search or jump to…").waitFor({ state: "detached" });
    await p.keyboard.press("Shift+?");
    await p.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await shot(p, "panel-shortcuts");
    await p.keyboard.press("Escape");
    await p.getByRole("dialog").waitFor({ state: "detached" });
    await p.keyboard.press("Control+k");
    await p.getByPlaceholder("Search or jump to…").waitFor();
    await p.keyboard.type("light and dark");
    await p.keyboard.press("Enter");
    await p.waitForFunction(() => document.documentElement.dataset.theme === "dark");
    await accessible(p, "dark");
    await shot(p, "panel-users-dark");
    await p.reload();
    assert.equal(await p.evaluate(() => document.documentElement.dataset.theme), "dark");
    await p.getByRole("button", { name: /owner@demo/ }).click();
    await p.getByText("Español").click();
    await p.getByRole("heading", { name: "Equipo", level: 1 }).waitFor();
    assert.equal(await p.evaluate(() => document.documentElement.lang), "es");
    await accessible(p, "the account's menu, dark");
    await shot(p, "panel-menu-dark");
  });

  it("says that it is starting, that a page is slow, and that there is no network", async (t) => {
    const p = await open(t, company, "/keys");
    await p.getByRole("heading", { name: "API keys", exact: true, level: 1 }).waitFor();
    /** held keeps the responses of an address back until the returned function is called. */
    const held = async (address) => {
      let go;
      const gone = new Promise((resolve) => (go = resolve));
      await p.route(address, async (route) => {
        await gone;
        await route.continue();
      });
      return go;
    };
    let release = await held("**/panel/v1/session*");
    await p.reload({ waitUntil: "commit" });
    await p.locator(".starting[aria-busy=true]").waitFor();
    await p.getByText("Still loading…").waitFor();
    await accessible(p, "the start");
    release();
    await p.getByRole("heading", { name: "API keys", exact: true, level: 1 }).waitFor();

    release = await held("**/panel/v1/webhooks*");
    await p.getByRole("link", { name: "Webhooks" }).click();
    await p.getByRole("status").getByText("Still loading…").waitFor();
    assert.equal(await p.locator("#content").getAttribute("aria-busy"), "true");
    release();
    await p.locator("#content:not([aria-busy])").waitFor();

    await p.context().setOffline(true);
    await p.getByText("You're offline").waitFor();
    await accessible(p, "offline");
    await shot(p, "panel-offline");
    await p.getByRole("link", { name: "Campaigns", exact: true }).click();
    const failure = p.locator("#content").locator("[role=alert], h1", { hasText: /Can't reach Carillon|didn't load/ });
    await failure.waitFor();
    await p.context().setOffline(false);
    await p.getByText("You're offline").waitFor({ state: "detached" });
    await p.getByRole("heading", { name: "Campaigns", level: 1 }).waitFor();
    await failure.waitFor({ state: "detached" });
  });

  it("says that a company is being moved, in place of its pages, and leaves the account", async (t) => {
    for (const options of [{}, { viewport: { width: 390, height: 780 }, colorScheme: "dark" }]) {
      const p = await open(t, company, "/keys", options);
      await p.addInitScript(() => {
        const real = window.fetch;
        window.fetch = async (request, ...more) => {
          const response = await real(request, ...more);
          if (!new URL(request.url ?? request, location.href).pathname.endsWith("/panel/v1/session")) return response;
          const session = await response.json();
          for (const c of session.companies ?? []) Object.assign(c, { moving: true, permissions: [] });
          return new Response(JSON.stringify(session), response);
        };
      });
      await p.reload();
      await p.getByText("This company is being moved to another installation.").waitFor();
      assert.equal(await p.getByText("You can't open this page").count(), 0);
      await accessible(p, "a company that is being moved");
      await shot(p, `panel-moving-${options.colorScheme ?? "light"}`);
      await p.goto(company.panel_url + "/account");
      await p.getByText("This company is being moved to another installation.").waitFor();
      await p.locator("#content h1").waitFor();
    }
  });

  it("has a page for addresses that are none", async (t) => {
    const p = await open(t, company, "/nowhere");
    await p.getByRole("heading", { name: "Page not found" }).waitFor();
    await accessible(p, "no such page");
    await p.goto(company.panel_url + "/agents/00000000-0000-7000-8000-000000000000");
    await p.getByRole("heading", { name: "Not found" }).waitFor();
    assert.equal(await p.getByRole("button", { name: "Try again" }).count(), 0);
    await accessible(p, "an agent that does not exist");
    await p.getByRole("link", { name: "Open the list: Agents" }).click();
    await p.getByRole("link", { name: "Reception" }).waitFor();
  });

  it("has a menu on a phone, light and dark", async (t) => {
    for (const colorScheme of ["light", "dark"]) {
      const p = await open(t, company, "/users", {
        viewport: { width: 390, height: 780 },
        hasTouch: true,
        colorScheme,
      });
      await p.getByRole("button", { name: "More", exact: true }).click();
      await p.getByRole("button", { name: "Developers" }).click();
      await p.getByRole("link", { name: "API keys" }).waitFor();
      await accessible(p, `the menu, ${colorScheme}`);
      await shot(p, `panel-phone-${colorScheme}-menu`);
      await p.getByRole("link", { name: "API keys" }).click();
      await p.getByRole("heading", { name: "API keys", exact: true, level: 1 }).waitFor();
    }
  });

  it("leads the keyboard past the closed menu on a phone, and never under the bar", async (t) => {
    const p = await open(t, company, "/", { viewport: { width: 390, height: 780 } });
    await p.locator(".tile").first().waitFor();
    const hidden = [];
    let stops = 0;
    for (; stops < 60; stops++) {
      await p.keyboard.press("Tab");
      // Past the last link the browser itself takes the focus, and gives it back by a message of its own.
      await p.waitForFunction(
        () => document.activeElement === document.body || document.activeElement.matches(":focus"),
      );
      const fault = await p.evaluate(async () => {
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        const at = document.activeElement;
        if (at === document.body) return "the end";
        const { left, right, top, bottom } = at.getBoundingClientRect();
        const bar = document.querySelector(".bottom-bar");
        const seen = right > 0 && left < innerWidth && bottom > 0;
        const free = bar.contains(at) || (top + bottom) / 2 < bar.getBoundingClientRect().top;
        return seen && free ? "" : at.outerHTML.slice(0, 100);
      });
      if (fault === "the end") break;
      if (fault) hidden.push(fault);
    }
    assert.deepEqual(hidden, []);
    assert.ok(stops > 10 && stops < 60, `one round of the page has ${stops} stops`);
  });
});
