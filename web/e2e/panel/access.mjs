// Who and what may use a company: access keys and users.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, shot } from "../browser.mjs";
import { act } from "../lists.mjs";
import { newCompany, open } from "../world.mjs";

let company;

describe("access keys", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("are made with scopes, shown once, and revoked", async (t) => {
    const p = await open(t, company, "/keys", { permissions: ["clipboard-read", "clipboard-write"] });
    await p.getByRole("heading", { name: "API keys", exact: true, level: 1 }).waitFor();
    await p.getByRole("button", { name: "New key" }).click();
    const dialog = p.getByRole("dialog");
    await dialog.getByRole("button", { name: "New key" }).click();
    await dialog.getByText("Required").waitFor();
    const name = "Shop <b>";
    await dialog.getByLabel("Label").fill(name);
    await dialog.getByText("Only these").click();
    await dialog.getByLabel("Send messages").check();
    await dialog.getByText("In 90 days").click();
    await accessible(p, "making a key");
    await shot(p, "panel-key-create");
    await dialog.getByRole("button", { name: "New key" }).click();
    const key = await dialog.locator("code").first().textContent();
    assert.match(key, /^ck_[\w-]{43}$/);
    await shot(p, "panel-key-made");
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });
    const row = p.getByRole("row", { name });
    await row.getByText("Send messages").waitFor();
    assert.equal((await p.content()).includes(key), false);
    await shot(p, "panel-keys");
    await act(p, "Revoke", name);
    await p.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await row.waitFor({ state: "detached" });
    await p.getByLabel("Show revoked keys").check();
    await row.getByText("Revoked").waitFor();
    assert.equal(await p.evaluate(async (k) => (await fetch("/functions/v1/usage?access_key=" + k)).status, key), 401);
  });
});

describe("users", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("are added, get another role and password, and are removed", async (t) => {
    const p = await open(t, company, "/users");
    await act(p, "Add with password");
    const dialog = p.getByRole("dialog");
    const email = company.email.replace("owner", "bo");
    await dialog.getByLabel("E-mail").fill(email);
    await dialog.getByLabel("Name").fill("Bo Berg");
    await dialog.getByRole("button", { name: "Generate" }).click();
    await accessible(p, "adding a user");
    await shot(p, "panel-user-add");
    await dialog.getByRole("button", { name: "New user" }).click();
    await dialog.getByText("Bo Berg added").waitFor();
    const password = await dialog.locator("code").nth(1).textContent();
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });
    await p.getByRole("cell", { name: email, exact: true }).waitFor();
    await shot(p, "panel-users");

    const theirs = await open(t, company, "/keys", {}, { email, password });
    await theirs.getByRole("heading", { name: "You can't open this page" }).waitFor();
    assert.equal(await theirs.getByRole("link", { name: "Team" }).count(), 0);
    await shot(theirs, "panel-denied");

    await act(p, "Change role", "Bo Berg");
    await p.getByRole("dialog").getByRole("combobox", { name: "Role" }).click();
    await p.getByRole("option", { name: /Developer/ }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await p
      .getByRole("row", { name: /Bo Berg/ })
      .getByText("Developer")
      .waitFor();
    await theirs.goto(company.panel_url + "/users");
    await theirs.getByRole("region", { name: "Team" }).getByRole("cell", { name: email, exact: true }).waitFor();
    await act(p, "Change role", "Bo Berg");
    await p.getByRole("dialog").getByRole("combobox", { name: "Role" }).click();
    await p.getByRole("option", { name: /Viewer/ }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await p
      .getByRole("row", { name: /Bo Berg/ })
      .getByText("Viewer")
      .waitFor();
    await theirs.evaluate(() => {
      history.pushState(null, "", "/panel/keys" + location.search); // their window may or may not know the new role yet
      dispatchEvent(new PopStateEvent("popstate"));
    });
    await theirs.getByRole("heading", { name: "You can't open this page" }).waitFor();
    await act(p, "Set password", "Bo Berg");
    await p.getByRole("dialog").getByRole("button", { name: "Set password" }).click();
    await p.getByText("Password changed").waitFor();
    await theirs.reload();
    await theirs.getByRole("heading", { name: "Sign in" }).waitFor();
    await act(p, "Remove", "Bo Berg");
    await p.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await p.getByRole("cell", { name: email, exact: true }).waitFor({ state: "detached" });
  });
});
