// Who works in a company: invitations, forgotten passwords, the second factor, single sign-on. No mail server is set, so links are shown.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { beforeEach, describe, it } from "node:test";
import { accessible, fits, shot, visit } from "../browser.mjs";
import { act } from "../lists.mjs";
import { ask, direct, fillIn, member, newCompany, open, stranger } from "../world.mjs";

let company;

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };

/** code is what an authenticator shows (RFC 6238). */
function code(secret, at = Date.now()) {
  const bits = [...secret.replaceAll(" ", "")]
    .map((c) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c).toString(2).padStart(5, "0"))
    .join("");
  const key = Buffer.from(bits.match(/.{8}/g).map((b) => parseInt(b, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const mac = createHmac("sha1", key).update(step).digest();
  return String((mac.readUInt32BE(mac[19] & 15) & 0x7fffffff) % 1e6).padStart(6, "0");
}

describe("the people of a company", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("are invited, join with a password of their own, and get a link when they forget it", async (t) => {
    const p = await open(t, company, "/users");
    await p.getByRole("button", { name: "Invite", exact: true }).click();
    const dialog = p.getByRole("dialog", { name: "Invite a teammate" });
    await dialog.getByLabel("E-mail").fill("vera");
    await dialog.getByRole("button", { name: "Invite" }).click();
    await dialog.getByText("Check the e-mail address").waitFor();
    await accessible(p, "inviting");
    await shot(p, "team-invite");
    await dialog.getByLabel("E-mail").fill("vera@new.test");
    await dialog.getByRole("button", { name: "Invite" }).click();
    const link = await dialog.locator(".snippet code").innerText();
    assert.match(link, /\/panel\/invitation#[\w-]{43}$/);
    await accessible(p, "the link of an invitation");
    await dialog.getByRole("button", { name: "Done" }).click();
    const invited = p.getByRole("region", { name: "Invitations" });
    await invited.getByText("vera@new.test").waitFor();
    await accessible(p, "users with an invitation");
    await shot(p, "team-users");

    const theirs = await stranger(t, { locale: "es-ES", ...phone });
    await theirs.p.goto(link);
    await theirs.p.getByRole("heading", { name: /^Unirse a/ }).waitFor();
    assert.equal(new URL(theirs.p.url()).hash, "", "the secret stays in the address");
    await accessible(theirs.p, "an invitation");
    await fits(theirs.p, "an invitation");
    await shot(theirs.p, "team-invitation-es");
    await theirs.p.getByLabel("Su nombre").fill("Vera Ruiz");
    await theirs.p.getByLabel("Elija una contraseña").fill("short");
    await theirs.p.getByRole("button", { name: "Crear la cuenta y unirse" }).click();
    await theirs.p.getByText("Al menos 12 caracteres", { exact: true }).waitFor();
    await theirs.p.getByLabel("Elija una contraseña").fill("a-long-enough-password");
    await theirs.p.getByRole("button", { name: "Crear la cuenta y unirse" }).click();
    await theirs.p.locator(".page h1").waitFor();
    const again = await stranger(t);
    await again.p.goto(link);
    await again.p.getByText("This invitation is no longer valid").waitFor();
    await accessible(again.p, "an invitation that was used");
    await shot(again.p, "team-invitation-used");

    await p.goto(link); // a link that is no good ends nobody's session
    await p.getByText("This invitation is no longer valid").waitFor();
    await p.goto(company.panel_url + "/users");
    await act(p, "Send password link", "Vera Ruiz");
    const reset = await p.getByRole("dialog", { name: "Password link" }).locator(".snippet code").innerText();
    await again.p.goto(reset);
    await again.p.getByRole("heading", { name: "Set a new password" }).waitFor();
    await accessible(again.p, "a new password");
    await shot(again.p, "team-forgotten");
    await again.p.getByLabel("Choose a password").fill("another-long-password");
    await again.p.keyboard.press("Enter");
    await again.p.getByRole("heading", { name: "Password updated" }).waitFor();
    await again.p.getByRole("link", { name: "Sign in" }).click();
    await fillIn(again.p, { email: "vera@new.test", password: "a-long-enough-password" });
    await again.p.getByText("Wrong e-mail or password").waitFor();
    await fillIn(again.p, { email: "vera@new.test", password: "another-long-password" });
    await again.p.locator(".page h1").waitFor();
  });

  it("protect their sign-in with a second factor, and get in with a recovery code", async (t) => {
    const who = await member(company, "Two", "viewer");
    const p = await open(t, company, "/account", {}, who);
    const card = p.getByRole("region", { name: "Two-factor authentication" });
    await card.getByRole("button", { name: "Turn on" }).click();
    const dialog = p.getByRole("dialog");
    await dialog.getByLabel("Current password").fill("wrong-password");
    await p.keyboard.press("Enter");
    await dialog.getByText("This isn't your current password").waitFor();
    await dialog.getByLabel("Current password").fill(who.password);
    await p.keyboard.press("Enter");
    await dialog.getByRole("img", { name: "QR code for your authenticator" }).waitFor();
    const secret = await dialog.locator("code").innerText();
    await accessible(p, "a QR code");
    await shot(p, "team-factor-qr");
    await dialog.getByRole("textbox", { name: "Code" }).fill("000000");
    await p.keyboard.press("Enter");
    await dialog.getByText("This code isn't valid").waitFor();
    await dialog.getByRole("textbox", { name: "Code" }).fill(code(secret));
    await p.keyboard.press("Enter");
    await dialog.getByRole("list", { name: "Your recovery codes" }).waitFor();
    const codes = await dialog.getByRole("list", { name: "Your recovery codes" }).getByRole("listitem").allInnerTexts();
    assert.equal(new Set(codes).size, 10);
    await accessible(p, "recovery codes");
    await shot(p, "team-factor-codes");
    await dialog.getByRole("button", { name: "I've saved them" }).click();
    await card.getByText("10 recovery codes left").waitFor();
    await accessible(p, "the account with a second factor");
    await shot(p, "team-account");

    const other = await stranger(t, { colorScheme: "dark", ...phone });
    await other.p.goto(company.panel_url + "/account");
    await fillIn(other.p, who);
    await other.p.getByRole("textbox", { name: "Code" }).waitFor();
    await accessible(other.p, "the question for a code");
    await shot(other.p, "team-code-dark");
    await other.p.getByRole("textbox", { name: "Code" }).fill("000000");
    await other.p.keyboard.press("Enter");
    await other.p.getByText("This code is invalid or already used").waitFor();
    await other.p.getByRole("textbox", { name: "Code" }).fill(codes[0]);
    await other.p.keyboard.press("Enter");
    await other.p.getByText("9 recovery codes left").waitFor();
    await fits(other.p, "the account");
    await accessible(other.p, "the account, dark, on a phone");
    await shot(other.p, "team-account-phone-dark");

    await card.getByRole("button", { name: "Turn off" }).click();
    await dialog.getByLabel("Current password").fill(who.password);
    await dialog.getByRole("textbox", { name: "Code" }).fill(codes[1]);
    await dialog.getByRole("button", { name: "Turn off" }).click();
    await card.getByText("Off", { exact: true }).waitFor();
  });

  it("sign in by the server of their company", async (t) => {
    const several = await ask("several");
    const { p } = await stranger(t);
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
    await p.getByText("There's no account for this e-mail yet").waitFor();
    await accessible(p, "a stranger");

    const at = (path) => direct(several.base_url) + path;
    const json = { "Content-Type": "application/json" };
    const { access_token: token } = await (
      await fetch(at("/functions/v1/auth?grant_type=password"), {
        method: "POST",
        headers: json,
        body: JSON.stringify({ email: "both@several.test", password: "several-horse-battery" }),
      })
    ).json();
    const me = await (await fetch(at("/panel/v1/session"), { headers: { Authorization: "Bearer " + token } })).json();
    const owned = me.companies.find((x) => x.role === "owner");
    const invited = await fetch(at("/panel/v1/invitations?company=" + owned.id), {
      method: "POST",
      headers: { ...json, Authorization: "Bearer " + token },
      body: JSON.stringify({ email: "test-user2@zitadel.ch", role: "viewer" }),
    });
    assert.equal(invited.status, 201);
    await p.goto(several.panel_url + "/sign-in?next=%2Faccount");
    await through();
    await p.getByRole("heading", { name: "Your account" }).waitFor();
    await p.getByText("Test User2 · test-user2@zitadel.ch").waitFor();
    await visit(p, "/panel/users");
    await p.getByRole("heading", { level: 1 }).waitFor();
  });
});
