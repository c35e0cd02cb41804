// Who works in a company: invitations, forgotten passwords, the second factor, single sign-on. No mail server is set, so links are shown.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { accessible, context, fits, launch, ready, shot, visit } from "./browser.mjs";

const several = JSON.parse(await readFile(process.env.CARILLON_SEVERAL, "utf8"));
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };
let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

async function page(t, options = {}) {
  const c = await context(browser, { locale: "en-GB", reducedMotion: "reduce", permissions: ["clipboard-read", "clipboard-write"], ...options });
  t.after(() => c.close());
  return { c, p: await c.newPage() };
}

async function fillIn(p, email, password) {
  await p.locator('input[name="email"]').fill(email);
  await p.locator('input[name="password"]').fill(password);
  await p.keyboard.press("Enter");
}

/** opened is a page of the panel for who is signed in. */
async function opened(t, path, options, who = [ready.email, ready.password]) {
  const { c, p } = await page(t, options);
  await p.goto(ready.panel_url + path);
  await fillIn(p, ...who);
  await p.locator(".page h1").waitFor();
  return { c, p };
}


/** code is what an authenticator shows (RFC 6238). */
function code(secret, at = Date.now()) {
  const bits = [...secret.replaceAll(" ", "")].map((c) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((b) => parseInt(b, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const mac = createHmac("sha1", key).update(step).digest();
  return String((mac.readUInt32BE(mac[19] & 15) & 0x7fffffff) % 1e6).padStart(6, "0");
}

describe("the people of a company", () => {
  it("are invited, join with a password of their own, and get a link when they forget it", async (t) => {
    const { c, p } = await opened(t, "/users");
    await p.getByRole("button", { name: "Invite", exact: true }).click();
    const dialog = p.getByRole("dialog", { name: "Invite somebody" });
    await dialog.getByLabel("E-mail").fill("vera");
    await dialog.getByRole("button", { name: "Invite" }).click();
    await dialog.getByText("Check the e-mail address").waitFor();
    await accessible(p, "inviting");
    await shot(p, "team-invite");
    await dialog.getByLabel("E-mail").fill("vera@team.test");
    await dialog.getByRole("button", { name: "Invite" }).click();
    const link = await dialog.locator(".snippet code").innerText();
    assert.match(link, /\/panel\/invitation#[\w-]{43}$/);
    await accessible(p, "the link of an invitation");
    await dialog.getByRole("button", { name: "Done" }).click();
    const open = p.getByRole("region", { name: "Invitations" });
    await open.getByText("vera@team.test").waitFor();
    await accessible(p, "users with an invitation");
    await shot(p, "team-users");

    const theirs = await page(t, { locale: "es-ES", ...phone });
    await theirs.p.goto(link);
    await theirs.p.getByRole("heading", { name: /^Unirse a/ }).waitFor();
    assert.equal(new URL(theirs.p.url()).hash, "", "the secret stays in the address");
    await accessible(theirs.p, "an invitation");
    await fits(theirs.p, "an invitation");
    await shot(theirs.p, "team-invitation-es");
    await theirs.p.getByLabel("Su nombre").fill("Vera Ruiz");
    await theirs.p.getByLabel("Una contraseña propia").fill("short");
    await theirs.p.getByRole("button", { name: "Crear la cuenta y unirse" }).click();
    await theirs.p.getByText("Al menos 12 caracteres", { exact: true }).waitFor();
    await theirs.p.getByLabel("Una contraseña propia").fill("a-long-enough-password");
    await theirs.p.getByRole("button", { name: "Crear la cuenta y unirse" }).click();
    await theirs.p.locator(".page h1").waitFor();
    const again = await page(t);
    await again.p.goto(link);
    await again.p.getByText("This invitation is not valid any more").waitFor();
    await accessible(again.p, "an invitation that was used");
    await shot(again.p, "team-invitation-used");

    await p.goto(link); // a link that is no good ends nobody's session
    await p.getByText("This invitation is not valid any more").waitFor();
    await p.goto(ready.panel_url + "/users");
    await p.getByRole("button", { name: "Actions for Vera Ruiz" }).click();
    await p.getByRole("menuitem", { name: "Send a link for a new password" }).click();
    const reset = await p.getByRole("dialog", { name: "A link for a new password" }).locator(".snippet code").innerText();
    await again.p.goto(reset);
    await again.p.getByRole("heading", { name: "Set a new password" }).waitFor();
    await accessible(again.p, "a new password");
    await shot(again.p, "team-forgotten");
    await again.p.getByLabel("A password of your own").fill("another-long-password");
    await again.p.keyboard.press("Enter");
    await again.p.getByRole("heading", { name: "The new password is set" }).waitFor();
    await again.p.getByRole("link", { name: "Sign in" }).click();
    await fillIn(again.p, "vera@team.test", "a-long-enough-password");
    await again.p.getByText("E-mail or password is wrong").waitFor();
    await fillIn(again.p, "vera@team.test", "another-long-password");
    await again.p.locator(".page h1").waitFor();
    for (const x of [c, theirs.c, again.c]) x.check();
  });

  it("protect their sign-in with a second factor, and get in with a recovery code", async (t) => {
    const who = ["two@team.test", "a-long-enough-password"];
    const setUp = await opened(t, "/users");
    const added = await setUp.p.evaluate(async ([email, password]) => (await fetch("/panel/v1/users", { method: "POST", headers: { "X-Carillon-Panel": "1", "Content-Type": "application/json" }, body: JSON.stringify({ email, name: "Two", password, role: "viewer" }) })).status, who);
    assert.equal(added, 201);
    const { c, p } = await opened(t, "/account", {}, who);
    const card = p.getByRole("region", { name: "Second factor" });
    await card.getByRole("button", { name: "Turn it on" }).click();
    const dialog = p.getByRole("dialog");
    await dialog.getByLabel("Present password").fill("wrong-password");
    await p.keyboard.press("Enter");
    await dialog.getByText("Is not the present password").waitFor();
    await dialog.getByLabel("Present password").fill(who[1]);
    await p.keyboard.press("Enter");
    await dialog.getByRole("img", { name: "QR code for your authenticator" }).waitFor();
    const secret = await dialog.locator("code").innerText();
    await accessible(p, "a QR code");
    await shot(p, "team-factor-qr");
    await dialog.getByRole("textbox", { name: "Code" }).fill("000000");
    await p.keyboard.press("Enter");
    await dialog.getByText("Is not a valid code").waitFor();
    await dialog.getByRole("textbox", { name: "Code" }).fill(code(secret));
    await p.keyboard.press("Enter");
    await dialog.getByRole("list", { name: "Your recovery codes" }).waitFor();
    const codes = await dialog.getByRole("list", { name: "Your recovery codes" }).getByRole("listitem").allInnerTexts();
    assert.equal(new Set(codes).size, 10);
    await accessible(p, "recovery codes");
    await shot(p, "team-factor-codes");
    await dialog.getByRole("button", { name: "I have kept them" }).click();
    await card.getByText("10 recovery codes left").waitFor();
    await accessible(p, "the account with a second factor");
    await shot(p, "team-account");

    const other = await page(t, { colorScheme: "dark", ...phone });
    await other.p.goto(ready.panel_url + "/account");
    await fillIn(other.p, ...who);
    await other.p.getByRole("textbox", { name: "Code" }).waitFor();
    await accessible(other.p, "the question for a code");
    await shot(other.p, "team-code-dark");
    await other.p.getByRole("textbox", { name: "Code" }).fill("000000");
    await other.p.keyboard.press("Enter");
    await other.p.getByText("This code is not valid, or was used before").waitFor();
    await other.p.getByRole("textbox", { name: "Code" }).fill(codes[0]);
    await other.p.keyboard.press("Enter");
    await other.p.getByText("9 recovery codes left").waitFor();
    await fits(other.p, "the account");
    await accessible(other.p, "the account, dark, on a phone");
    await shot(other.p, "team-account-phone-dark");

    await card.getByRole("button", { name: "Turn it off" }).click();
    await dialog.getByLabel("Present password").fill(who[1]);
    await dialog.getByRole("textbox", { name: "Code" }).fill(codes[1]);
    await dialog.getByRole("button", { name: "Turn it off" }).click();
    await card.getByText("Off", { exact: true }).waitFor();
    for (const x of [c, other.c]) x.check();
  });

  it("sign in by the server of their company", async (t) => {
    const { c, p } = await page(t);
    await p.goto(several.panel_url + "/sign-in?next=%2Faccount");
    await p.getByRole("link", { name: "Sign in with Acme ID" }).waitFor();
    await accessible(p, "the sign-in with single sign-on");
    await shot(p, "team-sso");
    const through = async () => {
      await p.getByRole("link", { name: "Sign in with Acme ID" }).click();
      await p.locator('input[name="username"]').fill("test-user2");
      await p.locator('input[name="password"]').fill("verysecure");
      await p.locator('button, input[type="submit"]').first().click();
    };
    await through();
    await p.getByText("Nobody with this e-mail works here yet").waitFor();
    await accessible(p, "a stranger");

    const token = (await (await fetch(several.base_url.replace("panel.localhost", "127.0.0.1") + "/functions/v1/auth?grant_type=password", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ email: "both@several.test", password: "several-horse-battery" }) })).json()).access_token;
    const me = await (await fetch(several.base_url.replace("panel.localhost", "127.0.0.1") + "/panel/v1/session", { headers: { Authorization: "Bearer " + token } })).json();
    const owned = me.companies.find((x) => x.role === "owner");
    const invited = await fetch(several.base_url.replace("panel.localhost", "127.0.0.1") + "/panel/v1/invitations?company=" + owned.id, { method: "POST", headers: { Authorization: "Bearer " + token, "Content-Type": "application/json" }, body: JSON.stringify({ email: "test-user2@zitadel.ch", role: "viewer" }) });
    assert.equal(invited.status, 201);
    await p.goto(several.panel_url + "/sign-in?next=%2Faccount");
    await through();
    await p.getByRole("heading", { name: "Your account" }).waitFor();
    await p.getByText("Test User2 · test-user2@zitadel.ch").waitFor();
    await visit(p, "/panel/users");
    await p.getByRole("heading", { level: 1 }).waitFor();
    c.check();
  });
});
