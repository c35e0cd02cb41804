// The sign-in, and the sessions of an account.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { shot } from "../browser.mjs";
import { fillIn, newCompany, open, stranger } from "../world.mjs";

let company;

/** signedIn signs somebody in by the form, and waits until it is so. */
async function signedIn(p, who) {
  await fillIn(p, who);
  await p.getByRole("navigation", { name: "Navigation", includeHidden: true }).waitFor({ state: "attached" });
}

describe("the sign-in", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("is asked for, keeps strangers out, goes on to the page that was wanted, and ends", async (t) => {
    const { c, p } = await stranger(t);
    await p.goto(company.panel_url + "/");
    await p.getByRole("heading", { name: "Sign in" }).waitFor();
    await p.goto(company.panel_url + "/users");
    await p.getByRole("heading", { name: "Sign in" }).waitFor();
    await shot(p, "panel-sign-in");
    await p.getByLabel("E-mail").fill(company.email);
    await p.locator('input[name="password"]').fill("wrong-horse-battery");
    await p.keyboard.press("Enter");
    await p.getByRole("alert").getByText("Wrong e-mail or password").waitFor();
    await signedIn(p, company);
    await p.getByRole("heading", { name: "Team", level: 1 }).waitFor();
    assert.equal(new URL(p.url()).pathname, "/panel/users");
    const [cookie] = await c.cookies(company.panel_url);
    assert.deepEqual(
      [cookie.name, cookie.httpOnly, cookie.sameSite, cookie.path],
      ["carillon_session", true, "Strict", "/panel"],
    );
    assert.equal(await p.evaluate(() => document.cookie), "");
    await p.getByRole("button", { name: /owner@demo/ }).click();
    await p.getByRole("button", { name: "Sign out" }).click();
    await p.getByRole("heading", { name: "Sign in" }).waitFor();
    await p.goBack();
    await p.getByRole("heading", { name: "Sign in" }).waitFor();
  });

  it("leads nowhere else, whatever the address says", async (t) => {
    const { c, p } = await stranger(t);
    for (const next of [
      "//evil.test",
      "https://evil.test/",
      "/\\evil.test",
      "javascript:alert(1)",
      "/sign-in?next=/",
    ]) {
      await p.goto(company.panel_url + "/sign-in?next=" + encodeURIComponent(next));
      await signedIn(p, company);
      await p.getByRole("heading", { level: 1 }).waitFor();
      assert.equal(new URL(p.url()).origin, new URL(company.panel_url).origin, next);
      assert.ok(new URL(p.url()).pathname.startsWith("/panel/"), next);
      await c.clearCookies();
    }
  });

  it("ends on all pages when the session does", async (t) => {
    const p = await open(t, company, "/keys");
    const other = await p.context().newPage();
    await other.goto(company.panel_url + "/account");
    await other.getByRole("button", { name: /owner@demo/ }).click();
    await other.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
    await other.getByRole("heading", { name: "Sign in" }).waitFor();
    await p.getByRole("heading", { name: "Sign in" }).waitFor(); // nobody has touched this window
    assert.equal(new URL(p.url()).searchParams.get("next")?.split("?")[0], "/keys");
    await signedIn(p, company);
    await p.getByRole("heading", { name: "API keys", exact: true, level: 1 }).waitFor();
  });

  it("ends at the next request where another browser has ended it", async (t) => {
    const p = await open(t, company, "/keys");
    await p.getByRole("heading", { name: "API keys", exact: true, level: 1 }).waitFor();
    const status = await p.evaluate(async () => {
      const r = await fetch("/panel/v1/session", { method: "DELETE", headers: { "X-Carillon-Panel": "1" } });
      document.querySelector('nav a[href*="/settings"]')?.click(); // gone where a request of the page was sooner
      return r.status;
    });
    assert.equal(status, 204);
    await p.getByRole("heading", { name: "Sign in" }).waitFor();
  });

  it("cannot be framed, and loads no script without the page's nonce", async (t) => {
    const p = await open(t, company, "/keys");
    const policy = (await p.goto(company.panel_url)).headers()["content-security-policy"];
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    const ran = await p.evaluate(
      () =>
        new Promise((resolve) => {
          const s = document.createElement("script");
          s.textContent = "window.ran = true";
          addEventListener("securitypolicyviolation", () => resolve(window.ran === true));
          document.body.append(s);
        }),
    );
    assert.equal(ran, false);
  });
});

describe("the own account", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("ends the push subscription of the browser with the session", async (t) => {
    const p = await open(t, company, "/account");
    await p.evaluate(() => {
      const pushManager = {
        getSubscription: async () => ({ unsubscribe: async () => sessionStorage.setItem("unsubscribed", "yes") }),
      };
      navigator.serviceWorker.getRegistration = async (scope) =>
        scope === "/panel/push/" ? { pushManager } : undefined;
    });
    await p.getByRole("button", { name: new RegExp(company.email) }).click();
    await p.getByRole("button", { name: "Sign out", exact: true }).click();
    await p.getByRole("heading", { name: "Sign in" }).waitFor();
    assert.equal(await p.evaluate(() => sessionStorage.getItem("unsubscribed")), "yes");
  });

  it("shows sessions, and ends another one", async (t) => {
    const other = await stranger(t);
    await other.p.goto(company.panel_url + "/keys");
    await signedIn(other.p, company);
    const p = await open(t, company, "/account");
    await p.getByText("This browser", { exact: true }).waitFor();
    await shot(p, "panel-account");
    await p.getByRole("button", { name: "Sign out all others" }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Sign out all others" }).click();
    await p.getByText("All other sessions signed out").waitFor();
    await other.p.reload();
    await other.p.getByRole("heading", { name: "Sign in" }).waitFor();
    await p.getByLabel("Current password").fill("wrong-horse-battery");
    await p.getByLabel("New password").fill("short");
    await p.getByRole("button", { name: "Change password" }).click();
    await p.getByText("At least 12 characters").nth(1).waitFor();
  });
});
