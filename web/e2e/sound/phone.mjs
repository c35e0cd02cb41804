// The sandbox's telephone, called by an agent while a page of the panel shows it.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, shot, visit } from "../browser.mjs";
import { call, newCompany, open } from "../world.mjs";

let company;
let token;

describe("an agent", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
  });

  it("phones the sandbox's telephone, which plays what it heard of the call", async (t) => {
    const { id } = await call("POST", "/panel/v1/agents", token, {
      name: "Nadia",
      language: "en",
      engine: "builtin",
      greeting: "Hello {{first_name}}.",
      tools: ["hang_up"],
      record: true,
      voicemail: "Please call us back.",
      result: [{ name: "comes", type: "choice", choices: ["today", "tomorrow"], question: "When do you come?" }],
    });
    const p = await open(t, company, "/agents/" + id);
    const play = p.getByRole("region", { name: "Playground" });
    await play.getByText("Phone", { exact: true }).click();
    await play.getByRole("combobox", { name: "Behavior" }).click();
    await p.getByRole("option", { name: /Presses 1 whenever/ }).click();
    await play.getByRole("button", { name: "Call", exact: true }).click();
    await play
      .getByText(/When do you come\?/)
      .first()
      .waitFor();
    await play.getByText(/made a note of that/).waitFor();
    const path = await play.getByRole("link", { name: "Show call" }).getAttribute("href");
    await call("POST", `/panel/v1/calls/${path.split("/").pop()}/hangup`, token); // else it presses twice more
    await play.getByText("Answers collected").waitFor();
    await play.locator("dd", { hasText: "today" }).waitFor();
    await play.getByRole("button", { name: /^Recording/ }).waitFor();
    await accessible(p, "a call to the sandbox's phone");
    await play.scrollIntoViewIfNeeded();
    await shot(p, "panel-agent-phone");

    await visit(p, "/panel/sandbox");
    const row = p.getByRole("list", { name: "Recent calls" }).getByRole("listitem").filter({ hasText: /0018/ }).first();
    await row.getByText("Answered").waitFor();
    await row.getByText(/^Pressed 1/).waitFor();
    await row.getByRole("button", { name: /^Recording/ }).click();
    const length = await row.locator("audio").evaluate(
      (a) =>
        new Promise((resolve, reject) => {
          a.muted = true;
          if (a.duration) resolve(a.duration);
          a.onloadedmetadata = () => resolve(a.duration);
          a.onerror = () => reject(new Error(a.error.message));
        }),
    );
    assert.ok(length > 2, "it heard " + length + " s");
    await accessible(p, "the sandbox's phone with a call that it got");
    await shot(p, "panel-sandbox");
  });
});
