// The panel, as an administrator uses it.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { readFile } from "node:fs/promises";
import { accessible, context, launch, ready, shot, visit } from "./browser.mjs";

const panel = ready.panel_url;
let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

/** opened is a page of the panel for who is signed in, at a path. */
async function opened(t, path = "/", options = {}) {
  const c = await context(browser, { locale: "en-GB", reducedMotion: "reduce", ...options });
  t.after(() => c.close());
  const p = await c.newPage();
  await p.goto(panel + (path === "/" ? "" : path));
  await signIn(p);
  return { c, p };
}

async function signIn(p, email = ready.email, password = ready.password) {
  await p.getByLabel("E-mail").fill(email);
  await p.locator('input[name="password"]').fill(password);
  await p.getByRole("button", { name: "Sign in" }).click();
  await p.getByRole("navigation", { name: "Navigation", includeHidden: true }).waitFor({ state: "attached" });
}

describe("the sign-in", () => {
  it("is asked for, keeps strangers out, goes on to the page that was wanted, and ends", async (t) => {
    const c = await context(browser, { locale: "en-GB" });
    t.after(() => c.close());
    const p = await c.newPage();
    await p.goto(panel + "/");
    await p.getByRole("heading", { name: "Sign in" }).waitFor();
    await p.goto(panel + "/users");
    await p.getByRole("heading", { name: "Sign in" }).waitFor();
    await accessible(p, "the sign-in");
    await shot(p, "panel-sign-in");
    await p.getByLabel("E-mail").fill(ready.email);
    await p.locator('input[name="password"]').fill("wrong-horse-battery");
    await p.keyboard.press("Enter");
    await p.getByRole("alert").getByText("E-mail or password is wrong").waitFor();
    await signIn(p);
    await p.getByRole("heading", { name: "Users" }).waitFor();
    assert.equal(new URL(p.url()).pathname, "/panel/users");
    const [cookie] = await c.cookies(panel);
    assert.deepEqual([cookie.name, cookie.httpOnly, cookie.sameSite, cookie.path], ["carillon_session", true, "Strict", "/panel"]);
    assert.equal(await p.evaluate(() => document.cookie), "");
    await p.getByRole("button", { name: /owner@demo/ }).click();
    await p.getByRole("button", { name: "Sign out" }).click();
    await p.getByRole("heading", { name: "Sign in" }).waitFor();
    await p.goBack();
    await p.getByRole("heading", { name: "Sign in" }).waitFor();
    c.check();
  });

  it("leads nowhere else, whatever the address says", async (t) => {
    for (const next of ["//evil.test", "https://evil.test/", "/\\evil.test", "javascript:alert(1)", "/sign-in?next=/"]) {
      const { p } = await opened(t, "/sign-in?next=" + encodeURIComponent(next));
      await p.getByRole("heading", { level: 1 }).waitFor();
      assert.equal(new URL(p.url()).origin, new URL(panel).origin, next);
      assert.ok(new URL(p.url()).pathname.startsWith("/panel/"), next);
    }
  });

  it("ends on all pages when the session does", async (t) => {
    const { c, p } = await opened(t, "/keys");
    const other = await c.newPage();
    await other.goto(panel + "/account");
    await other.getByRole("button", { name: /owner@demo/ }).click();
    await other.getByRole("button", { name: "Sign out" }).click();
    await other.getByRole("heading", { name: "Sign in" }).waitFor();
    await p.getByRole("link", { name: "Users" }).click();
    await p.getByRole("heading", { name: "Sign in" }).waitFor();
  });

  it("cannot be framed, and loads no script without the page's nonce", async (t) => {
    const { c, p } = await opened(t, "/keys");
    const policy = (await p.goto(panel)).headers()["content-security-policy"];
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    const ran = await p.evaluate(() => new Promise((resolve) => {
      const s = document.createElement("script");
      s.textContent = "window.ran = true";
      document.body.append(s);
      setTimeout(() => resolve(window.ran === true), 50);
    }));
    assert.equal(ran, false);
    c.check();
  });
});

describe("access keys", () => {
  it("are made with scopes, shown once, and revoked", async (t) => {
    const { c, p } = await opened(t, "/keys", { permissions: ["clipboard-read", "clipboard-write"] });
    await p.getByRole("heading", { name: "Access keys" }).waitFor();
    await p.getByRole("button", { name: "Create a key" }).click();
    const dialog = p.getByRole("dialog");
    await dialog.getByRole("button", { name: "Create a key" }).click();
    await dialog.getByText("Required").waitFor();
    const name = "Shop <b>" + Date.now();
    await dialog.getByLabel("Label").fill(name);
    await dialog.getByText("Only these").click();
    await dialog.getByLabel("Send messages").check();
    await dialog.getByText("In 90 days").click();
    await accessible(p, "making a key");
    await shot(p, "panel-key-create");
    await dialog.getByRole("button", { name: "Create a key" }).click();
    const key = await dialog.locator("code").textContent();
    assert.match(key, /^ck_[\w-]{43}$/);
    await shot(p, "panel-key-made");
    await dialog.getByRole("button", { name: "I have copied it" }).click();
    await dialog.waitFor({ state: "detached" });
    const row = p.getByRole("row", { name });
    await row.getByText("Send messages").waitFor();
    assert.equal((await p.content()).includes(key), false);
    await accessible(p, "the keys");
    await shot(p, "panel-keys");
    await row.getByRole("button", { name: /Revoke/ }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await row.waitFor({ state: "detached" });
    await p.getByLabel("Show revoked keys").check();
    await row.getByText("Revoked").waitFor();
    assert.equal(await p.evaluate(async (k) => (await fetch("/functions/v1/usage?access_key=" + k)).status, key), 401);
    c.check();
  });
});

describe("users", () => {
  it("are added, get another role and password, and are removed", async (t) => {
    const { c, p } = await opened(t, "/users");
    await p.getByRole("button", { name: "Add with a password" }).click();
    const dialog = p.getByRole("dialog");
    const email = `bo${Date.now()}@demo.test`;
    await dialog.getByLabel("E-mail").fill(email);
    await dialog.getByLabel("Name").fill("Bo Berg");
    await dialog.getByRole("button", { name: "Make one up" }).click();
    await accessible(p, "adding a user");
    await shot(p, "panel-user-add");
    await dialog.getByRole("button", { name: "Add a user" }).click();
    await dialog.getByText("Bo Berg was added").waitFor();
    const password = await dialog.locator("code").nth(1).textContent();
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });
    await p.getByText(email).waitFor();
    await accessible(p, "the users");
    await shot(p, "panel-users");

    const { p: theirs } = await (async () => {
      const own = await context(browser, { locale: "en-GB" });
      t.after(() => own.close());
      const page = await own.newPage();
      await page.goto(panel + "/keys");
      await signIn(page, email, password);
      return { p: page };
    })();
    await theirs.getByRole("heading", { name: "You cannot open this page" }).waitFor();
    assert.equal(await theirs.getByRole("link", { name: "Users" }).count(), 0);
    await shot(theirs, "panel-denied");

    const act = async (what) => {
      await p.getByRole("button", { name: "Actions for Bo Berg" }).click();
      await p.getByRole("menuitem", { name: what }).click();
    };
    await act("Change the role");
    await p.getByRole("dialog").getByRole("combobox", { name: "Role" }).click();
    await p.getByRole("option", { name: /Developer/ }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await p.getByRole("row", { name: /Bo Berg/ }).getByText("Developer").waitFor();
    await theirs.goto(panel + "/users");
    await theirs.getByRole("region", { name: "Users" }).getByText(email).waitFor();
    await act("Change the role");
    await p.getByRole("dialog").getByRole("combobox", { name: "Role" }).click();
    await p.getByRole("option", { name: /Viewer/ }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await p.getByRole("row", { name: /Bo Berg/ }).getByText("Viewer").waitFor();
    await theirs.getByRole("link", { name: "Access keys" }).click(); // the page believes that it may
    await theirs.getByRole("heading", { name: "You cannot open this page" }).waitFor();
    await act("Set a password");
    await p.getByRole("dialog").getByRole("button", { name: "Set a password" }).click();
    await p.getByText("The password is set").waitFor();
    await theirs.reload();
    await theirs.getByRole("heading", { name: "Sign in" }).waitFor();
    await act("Remove");
    await p.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await p.getByText(email).waitFor({ state: "detached" });
    c.check();
  });
});

describe("the own account", () => {
  it("shows sessions, and ends another one", async (t) => {
    const other = await opened(t, "/keys");
    const { c, p } = await opened(t, "/account");
    await p.getByText("This browser").waitFor();
    await accessible(p, "the account");
    await shot(p, "panel-account");
    await p.getByRole("button", { name: "End all others" }).click();
    await p.getByRole("dialog").getByRole("button", { name: "End all others" }).click();
    await p.getByText("All other sessions have ended").waitFor();
    await other.p.reload();
    await other.p.getByRole("heading", { name: "Sign in" }).waitFor();
    await p.getByLabel("Present password").fill("wrong-horse-battery");
    await p.getByLabel("New password").fill("short");
    await p.getByRole("button", { name: "Change the password" }).click();
    await p.getByText("At least 12 characters").nth(1).waitFor();
    c.check();
  });
});

describe("widgets", () => {
  it("are designed beside the real page, saved, installed and removed", async (t) => {
    const { c, p } = await opened(t, "/widgets");
    await p.getByRole("link", { name: "Demo chat" }).waitFor();
    await accessible(p, "the widgets");
    await shot(p, "panel-widgets");
    await p.getByRole("button", { name: "Add a widget" }).click();
    const dialog = p.getByRole("dialog");
    const name = "Shop " + Date.now();
    await dialog.getByLabel("Name").fill(name);
    await dialog.getByLabel("Welcome").fill("Welcome aboard");
    await dialog.getByRole("button", { name: "Add a widget" }).click();
    await p.getByRole("heading", { name }).waitFor();
    const frame = p.frameLocator("iframe");
    await frame.getByText("Welcome aboard").waitFor();
    await p.getByLabel("Heading").fill("<b>Harbour</b> help");
    await frame.getByRole("heading", { name: "<b>Harbour</b> help", includeHidden: true }).waitFor();
    await p.getByRole("textbox", { name: "Colour", exact: true }).fill("#ffd84d");
    await p.getByText("can hardly be seen").waitFor();
    await accessible(p, "the designer");
    await shot(p, "panel-widget-look");
    await p.getByRole("button", { name: /^Use #/ }).click();
    await p.getByText("can hardly be seen").waitFor({ state: "detached" });
    await p.getByRole("tab", { name: "Words" }).click();
    await p.getByRole("combobox", { name: "Add a language" }).or(p.getByRole("textbox", { name: "Add a language" })).fill("es");
    await p.getByRole("button", { name: "Add", exact: true }).click();
    await p.getByRole("textbox", { name: "Spanish" }).fill("Bienvenido a bordo");
    await frame.getByText("Bienvenido a bordo").waitFor();
    await accessible(p, "the words");
    await shot(p, "panel-widget-words");
    await p.getByRole("tab", { name: "Behaviour" }).click();
    await p.getByRole("switch", { name: "Teammates answer at certain hours only" }).check({ force: true });
    await p.getByRole("combobox", { name: "Allowed sites" }).fill("not an address");
    await p.keyboard.press("Enter");
    await accessible(p, "the behaviour");
    await shot(p, "panel-widget-behaviour");
    await p.keyboard.press("Control+s");
    await p.getByText("Must hold origins").first().waitFor();
    await p.getByRole("link", { name: "Access keys" }).click();
    await p.getByRole("dialog", { name: "Leave without saving?" }).getByRole("button", { name: "Stay" }).click();
    for (let n = await p.locator(".mantine-TagsInput-pill button").count(); n > 0; n--) await p.locator(".mantine-TagsInput-pill button").first().click();
    await p.getByRole("region", { name: "Save" }).getByRole("button", { name: "Save" }).click();
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
    await p.reload();
    await p.getByRole("tab", { name: "Words" }).click();
    assert.equal(await p.getByRole("textbox", { name: "Spanish" }).inputValue(), "Bienvenido a bordo");
    await p.getByRole("tab", { name: "Install" }).click();
    await p.getByRole("button", { name: "Make a key for this widget" }).click();
    await p.getByText("Copy the tag now").waitFor();
    const tag = await p.locator(".snippet code").first().textContent();
    assert.match(tag, /customer="ck_[\w-]{43}"/);
    await accessible(p, "installing");
    await shot(p, "panel-widget-install");
    const wrapper = await p.locator(".snippet code").nth(1).textContent();
    const shown = await c.newPage();
    await shown.goto(wrapper);
    await shown.frameLocator("iframe").getByText("Welcome aboard").waitFor();
    await shown.close();
    await p.getByRole("button", { name: "Remove the widget" }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await p.getByText("The widget is removed").waitFor();
    assert.equal(await p.getByRole("link", { name }).count(), 0);
    c.check();
  });
});

describe("agents", () => {
  it("are made, tried before they are saved, and removed", async (t) => {
    const { c, p } = await opened(t, "/agents");
    await p.getByRole("link", { name: "Reception" }).waitFor();
    await accessible(p, "the agents");
    await shot(p, "panel-agents");
    await p.getByRole("button", { name: "Add an agent" }).click();
    const name = "Night desk " + Date.now();
    await p.getByRole("dialog").getByLabel("Name").fill(name);
    await p.getByRole("dialog").getByRole("button", { name: "Add an agent" }).click();
    await p.getByRole("heading", { name }).waitFor();
    await p.getByRole("combobox", { name: "Knowledge" }).click();
    await p.getByRole("option", { name: "faq", exact: true }).click();
    await p.keyboard.press("Escape");
    await p.getByLabel("Write as a visitor").fill("Can I bring luggage aboard?");
    await p.keyboard.press("Enter");
    await p.getByRole("log").getByText("one bag or small suitcase that fits under a seat").waitFor();
    await p.getByRole("log").getByRole("link", { name: /Luggage/ }).waitFor();
    await p.getByLabel("Write as a visitor").fill("xyzzy plugh frobnicate?");
    await p.keyboard.press("Enter");
    await p.getByText("It found no answer").waitFor();
    await accessible(p, "an agent");
    await shot(p, "panel-agent");
    await p.getByRole("radio", { name: "Language model" }).check({ force: true });
    await p.getByLabel("Address of the server").fill("not an address");
    await p.getByRole("textbox", { name: "Model" }).fill("m");
    await p.getByRole("region", { name: "Save" }).getByRole("button", { name: "Save" }).click();
    await p.getByText("Must be an http or https address").first().waitFor();
    await p.getByLabel("Address of the server").fill("http://127.0.0.1:9/v1");
    await p.getByLabel("Its key").first().fill("sk-secret-key");
    await p.getByRole("region", { name: "Save" }).getByRole("button", { name: "Save" }).click();
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
    await p.reload();
    await p.getByRole("heading", { name }).waitFor();
    assert.equal(await p.getByLabel("Address of the server").inputValue(), "http://127.0.0.1:9/v1");
    assert.equal((await p.content()).includes("sk-secret-key"), false);
    await p.getByRole("button", { name: "Remove the agent" }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await p.getByText("The agent is removed").waitFor();
    c.check();
  });
});

describe("knowledge", () => {
  it("is written, imported, searched and removed; open questions are answered", async (t) => {
    const { c, p } = await opened(t, "/knowledge");
    await p.getByRole("link", { name: "faq", exact: true }).waitFor();
    await accessible(p, "the knowledge");
    await shot(p, "panel-knowledge");
    const base = "notes" + Date.now();
    await p.getByRole("button", { name: "Add a base" }).click();
    await p.getByRole("dialog").getByLabel("Name").fill("not an id");
    await p.getByRole("dialog").getByRole("button", { name: "Add a base" }).click();
    await p.getByRole("dialog").locator(".mantine-InputWrapper-error").waitFor();
    await p.getByRole("dialog").getByLabel("Name").fill(base);
    await p.getByRole("dialog").getByRole("button", { name: "Add a base" }).click();
    await p.getByRole("heading", { name: base }).waitFor();
    await p.getByRole("button", { name: "Write an article" }).click();
    const drawer = p.getByRole("dialog");
    await drawer.getByLabel("Title").fill("Lighthouse <i>tickets</i>");
    await drawer.getByRole("button", { name: "Save" }).click();
    await drawer.getByText("Required").waitFor();
    await drawer.getByLabel("Text").fill("The lighthouse costs six euros and opens at ten.");
    await accessible(p, "an article");
    await shot(p, "panel-article");
    await drawer.getByRole("button", { name: "Save" }).click();
    await drawer.waitFor({ state: "detached" });
    await p.getByRole("button", { name: /Lighthouse <i>tickets<\/i>/ }).waitFor();
    await p.getByRole("button", { name: "Import" }).click();
    await p.getByText("From Markdown").click();
    await p.getByLabel("Markdown", { exact: true }).fill("# Dogs\n\nDogs sail for **free** on a lead.");
    await p.getByRole("button", { name: "Read it" }).click();
    await p.getByRole("dialog").getByLabel("Title").waitFor();
    assert.equal(await p.getByRole("dialog").getByLabel("Title").inputValue(), "Dogs");
    await p.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await p.getByRole("button", { name: /^Dogs/ }).waitFor();
    await accessible(p, "a base");
    await shot(p, "panel-base");
    await p.getByRole("button", { name: /^Dogs/ }).click();
    assert.match(p.url(), /article=1/);
    await p.getByRole("dialog").getByLabel("Text").fill("Dogs sail for free, on a lead, at all times.");
    await p.keyboard.press("Escape");
    await p.getByRole("dialog", { name: "Leave without saving?" }).getByRole("button", { name: "Stay" }).click();
    await p.getByRole("dialog", { name: "Article" }).getByRole("button", { name: "Save" }).click();
    await p.getByText("at all times").waitFor();

    await p.goto(panel + "/knowledge?tab=search");
    await p.getByLabel("Question", { exact: true }).fill("What does the lighthouse cost?");
    await p.keyboard.press("Enter");
    await p.getByText("Answers").first().waitFor();
    await p.getByRole("listitem").filter({ hasText: base }).getByText("The lighthouse costs six euros").waitFor();
    await accessible(p, "a search");
    await shot(p, "panel-search");

    const widget = await c.newPage();
    await widget.goto(`${ready.base_url}/functions/v1/widgetWebView?customer_id=${ready.access_key}&widget_id=${ready.chat_widget_id}`);
    const box = widget.frameLocator("iframe").locator("footer textarea");
    const question = "Zyxwv qqfrob " + Date.now() + "?";
    await box.fill(question);
    await box.press("Enter");
    await widget.frameLocator("iframe").getByText("I do not know").first().waitFor();
    await widget.close();
    await p.getByRole("tab", { name: "Open questions" }).click();
    const row = p.getByRole("row", { name: question.replace("?", "") });
    await row.waitFor();
    await accessible(p, "the open questions");
    await shot(p, "panel-questions");
    await row.getByRole("button", { name: /Write the answer/ }).click();
    await p.getByRole("menuitem", { name: base }).click();
    await p.getByRole("dialog").getByLabel("Title").waitFor();
    assert.equal(await p.getByRole("dialog").getByLabel("Title").inputValue(), question);
    await p.goBack();
    await row.getByRole("button", { name: /Dismiss/ }).click();
    await row.waitFor({ state: "detached" });

    await p.goto(`${panel}/knowledge/${base}`);
    await p.getByRole("button", { name: "Remove the base" }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await p.getByText("The base is removed").waitFor();
    assert.equal(await p.getByRole("link", { name: base }).count(), 0);
    c.check();
  });
});

describe("the shell", () => {
  it("is used by keyboard: search, shortcuts, themes, languages", async (t) => {
    const { c, p } = await opened(t, "/keys");
    await p.getByRole("heading", { name: "Access keys" }).waitFor();
    await p.keyboard.press("Control+k");
    await p.getByPlaceholder("Search pages and actions").waitFor();
    await p.keyboard.type("users");
    await accessible(p, "the search");
    await shot(p, "panel-palette");
    await p.keyboard.press("Enter");
    await p.getByRole("heading", { name: "Users" }).waitFor();
    await p.getByPlaceholder("Search pages and actions").waitFor({ state: "detached" });
    await p.keyboard.press("Shift+?");
    await p.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await shot(p, "panel-shortcuts");
    await p.keyboard.press("Escape");
    await p.getByRole("dialog").waitFor({ state: "detached" });
    await p.keyboard.press("Control+k");
    await p.getByPlaceholder("Search pages and actions").waitFor();
    await p.keyboard.type("light and dark");
    await p.keyboard.press("Enter");
    await p.waitForFunction(() => document.documentElement.dataset.theme === "dark");
    await accessible(p, "dark");
    await shot(p, "panel-users-dark");
    await p.reload();
    assert.equal(await p.evaluate(() => document.documentElement.dataset.theme), "dark");
    await p.getByRole("button", { name: /owner@demo/ }).click();
    await p.getByText("Español").click();
    await p.waitForTimeout(200); // the choice slides
    await p.getByRole("heading", { name: "Usuarios" }).waitFor();
    assert.equal(await p.evaluate(() => document.documentElement.lang), "es");
    await accessible(p, "the account's menu, dark");
    await shot(p, "panel-menu-dark");
    c.check();
  });

  it("has a page for addresses that are none", async (t) => {
    const { c, p } = await opened(t, "/nowhere");
    await p.getByRole("heading", { name: "There is no such page" }).waitFor();
    await accessible(p, "no such page");
    c.check();
  });

  it("has pages that fit a phone and a dark room", async (t) => {
    // Never two in a row with the same heading, which says that the page has changed.
    const pages = [["/agents", "Agents"], ["/knowledge", "Knowledge"], ["/widgets", "Widgets"], ["/knowledge?tab=search&q=luggage", "Knowledge"], ["/keys", "Access keys"], ["/knowledge?tab=questions", "Knowledge"], ["/knowledge/faq", "faq"],
      ["/users", "Users"], ["/knowledge/faq?article=0", "faq"], ["/widgets/" + ready.chat_widget_id, "Demo chat"], ["/agents/" + ready.agent_id, "Reception"], ["/account", "Your account"]];
    for (const [name, options] of [["wide-dark", { colorScheme: "dark" }], ["phone-light", { viewport: { width: 390, height: 780 }, hasTouch: true }], ["phone-dark", { viewport: { width: 390, height: 780 }, hasTouch: true, colorScheme: "dark" }]]) {
      const { c, p } = await opened(t, "/keys", options);
      for (const [path, heading] of pages) {
        await visit(p, "/panel" + path);
        await p.getByRole("heading", { name: heading, exact: true, level: 1, includeHidden: true }).waitFor();
        await p.locator(".mantine-Skeleton-root").first().waitFor({ state: "detached" });
        if (path.includes("article=")) await p.getByRole("dialog").waitFor();
        await accessible(p, `${path}, ${name}`);
        assert.equal(await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, path + " scrolls sideways");
        await shot(p, `panel-${name}${path.replace(/[/?&=]+/g, "-").slice(0, 24)}`);
      }
      if (name.startsWith("phone")) {
        await p.getByRole("button", { name: "Menu" }).click();
        await p.getByRole("link", { name: "Access keys" }).waitFor();
        await accessible(p, `the menu, ${name}`);
        await shot(p, `panel-${name}-menu`);
        await p.getByRole("link", { name: "Access keys" }).click();
        await p.getByRole("heading", { name: "Access keys", exact: true }).waitFor();
      }
      c.check();
    }
  });
});

describe("a new installation", () => {
  it("gets its first owner by the token that was printed", async (t) => {
    const { panel_url: address } = JSON.parse(await readFile(process.env.CARILLON_EMPTY, "utf8"));
    const c = await context(browser, { locale: "en-GB", reducedMotion: "reduce" });
    t.after(() => c.close());
    const p = await c.newPage();
    await p.goto(address);
    await p.getByRole("heading", { name: "Set up Carillon" }).waitFor();
    const make = p.getByRole("button", { name: "Make the owner and sign in" });
    await make.click();
    await p.getByText("Required").first().waitFor();
    await accessible(p, "the set-up");
    await shot(p, "panel-set-up");
    await p.getByLabel("One-time token").fill("first_not-this-one");
    await p.getByLabel("Company").fill("New <b>Boats</b>");
    await p.getByLabel("Your name").fill("Ana");
    await p.getByLabel("E-mail").fill("ana@new.test");
    await p.locator('input[autocomplete="new-password"]').fill("correct-horse-battery");
    await make.click();
    await p.getByText("This token is not valid any more").waitFor();
    await p.getByLabel("One-time token").fill(process.env.CARILLON_TOKEN);
    await make.click();
    await p.getByRole("navigation", { name: "Navigation" }).getByText("New <b>Boats</b>").waitFor();
    await p.goto(address + "/agents");
    await p.getByRole("heading", { name: "No agents yet" }).waitFor();
    await accessible(p, "no agents");
    await shot(p, "panel-empty");
    await p.goto(address + "/set-up");
    await p.getByText("Carillon is set up already").waitFor();
    c.check();
  });
});

describe("several companies", () => {
  it("are switched between, each with its role and what is its own", async (t) => {
    const { panel_url: address } = JSON.parse(await readFile(process.env.CARILLON_SEVERAL, "utf8"));
    const c = await context(browser, { locale: "en-GB", reducedMotion: "reduce" });
    t.after(() => c.close());
    const p = await c.newPage();
    await p.goto(address + "/keys");
    await signIn(p, "both@several.test", "several-horse-battery");
    await p.getByRole("heading", { name: "Access keys" }).waitFor();
    assert.match(p.url(), /company=/);
    await p.getByRole("button", { name: "Create a key" }).first().click();
    await p.getByRole("dialog").getByLabel("Label").fill("Alpha's own");
    await p.getByRole("dialog").getByRole("button", { name: "Create a key" }).click();
    await p.getByRole("button", { name: "I have copied it" }).click();
    await p.getByText("Alpha's own", { exact: true }).first().waitFor();
    const alpha = p.url();
    const to = async (name) => {
      await p.getByRole("button", { name: /Company$/ }).click();
      await p.getByRole("menuitem", { name }).click();
      await p.getByRole("button", { name: new RegExp(name + ".*Company$") }).waitFor();
    };
    await to("Beta Boats");
    assert.equal(await p.getByRole("link", { name: "Access keys" }).count(), 0);
    await p.getByRole("link", { name: "Agents" }).click();
    await p.getByRole("heading", { name: "No agents yet" }).waitFor();
    assert.equal(await p.getByRole("button", { name: "Add an agent" }).count(), 0);
    await p.goto(alpha);
    await p.getByText("Alpha's own", { exact: true }).first().waitFor();
    c.check();
  });
});
