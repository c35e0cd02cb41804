// One way through the pages: somebody signs in and sends a message, a visitor asks, and a teammate answers.
import { before, describe, it } from "node:test";
import { shot, visit } from "../browser.mjs";
import { fillIn, member, newCompany, open, stranger } from "../world.mjs";
import { choose } from "../sending.mjs";
import { say, visitor } from "../widgets.mjs";

let company;
describe("a walk", () => {
  before(async () => {
    company = await newCompany();
  });

  it("from the sign-in to a message that is read", async (t) => {
    const { p } = await stranger(t);
    await p.goto(company.panel_url + "/send");
    await fillIn(p, company);
    await p.getByRole("heading", { name: "Send", level: 1 }).waitFor();
    await choose(p, "hello", /hello \(en\)/);
    await p.getByRole("button", { name: "Send to the test phone" }).click();
    await p.getByRole("textbox", { name: /^\{\{1\}\}|^Variable 1/ }).fill("Ana");
    await p.getByRole("button", { name: "Send", exact: true }).click();
    await p.getByRole("heading", { name: "To +34 600 701 234", exact: true }).waitFor();
    await p.getByRole("link", { name: "Open test phone" }).click();
    await p
      .getByRole("region", { name: /^Phone/ })
      .getByText("Hello Ana, this is Carillon.")
      .waitFor();
    await visit(p, "/panel/notifications");
    await p.getByRole("link", { name: /hello/ }).first().click();
    await p.locator(".preview").getByText("Hello Ana, this is Carillon.").waitFor();
    await p.getByText("Read", { exact: true }).first().waitFor();
    await shot(p, "walk-sent");
  });

  it("from a visitor's question to a teammate's answer", async (t) => {
    const inbox = await open(t, company, "/inbox?folder=all", {}, await member(company, "Ana", "teammate"));
    const { frame } = await visitor(t, company);
    await say(frame, "How much does shipping cost?");
    await frame.locator(".bubble", { hasText: "Shipping costs 4.90 euros" }).waitFor();
    await say(frame, "xyzzy plugh?");
    await frame.locator(".bubble", { hasText: "I couldn't find that." }).waitFor();
    await frame.getByRole("button", { name: "Talk to a person" }).click();
    await frame.getByText("You're next").waitFor();
    await inbox.locator(".inbox-row").first().click();
    await inbox.locator(".inbox-bubble", { hasText: "How much does shipping cost?" }).waitFor();
    await inbox.getByRole("textbox", { name: "Reply" }).fill("Nothing for you.");
    await inbox.keyboard.press("Enter");
    await frame.locator(".bubble", { hasText: "Nothing for you." }).waitFor();
    await say(frame, "Thank you!");
    await inbox.locator(".inbox-bubble", { hasText: "Thank you!" }).waitFor();
    await shot(inbox, "walk-inbox");
  });
});
