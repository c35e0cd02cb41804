// An installation that is new, and one with several companies.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accessible, shot } from "../browser.mjs";
import { ask, fillIn, stranger } from "../world.mjs";

/** signedIn signs somebody in by the form, and waits until it is so. */
async function signedIn(p, who) {
  await fillIn(p, who);
  await p.getByRole("navigation", { name: "Navigation", includeHidden: true }).waitFor({ state: "attached" });
}

describe("a new installation", () => {
  it("gets its first owner by the token that was printed", async (t) => {
    const { panel_url: address, token } = await ask("empty");
    const { p } = await stranger(t);
    await p.goto(address);
    await p.getByRole("heading", { name: "Set up Carillon" }).waitFor();
    const make = p.getByRole("button", { name: "Create owner and sign in" });
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
    await p.getByText("This token is no longer valid").waitFor();
    await p.getByLabel("One-time token").fill(token);
    await make.click();
    await p.getByRole("navigation", { name: "Navigation" }).getByText("New <b>Boats</b>").waitFor();
    await p.goto(address + "/agents");
    await p.getByRole("heading", { name: "No agents yet" }).waitFor();
    await accessible(p, "no agents");
    await shot(p, "panel-empty");
    await p.goto(address + "/set-up");
    await p.getByText("Carillon is already set up").waitFor();
  });
});

describe("several companies", () => {
  it("are switched between, each with its role and what is its own", async (t) => {
    const { panel_url: address } = await ask("several");
    const { p } = await stranger(t);
    await p.goto(address + "/keys");
    await signedIn(p, { email: "both@several.test", password: "several-horse-battery" });
    await p.getByRole("heading", { name: "API keys", exact: true, level: 1 }).waitFor();
    await p.waitForURL(/company=/);
    await p.getByRole("button", { name: "New key" }).first().click();
    await p.getByRole("dialog").getByLabel("Label").fill("Alpha's own");
    await p.getByRole("dialog").getByRole("button", { name: "New key" }).click();
    await p.getByRole("button", { name: "Done" }).click();
    await p.getByText("Alpha's own", { exact: true }).first().waitFor();
    const alpha = p.url();
    const to = async (name) => {
      await p.getByRole("button", { name: /Company$/ }).click();
      await p.getByRole("menuitem", { name }).click();
      await p.getByRole("button", { name: new RegExp(name + ".*Company$") }).waitFor();
    };
    await to("Beta Boats");
    await p.getByRole("button", { name: "Developers" }).waitFor({ state: "detached" });
    await p.getByRole("link", { name: "API keys" }).waitFor({ state: "detached" });
    await p.getByRole("link", { name: "Agents" }).click();
    await p.getByRole("heading", { name: "No agents yet" }).waitFor();
    assert.equal(await p.getByRole("button", { name: "New agent" }).count(), 0);
    await p.goto(alpha);
    await p.getByText("Alpha's own", { exact: true }).first().waitFor();
  });
});
