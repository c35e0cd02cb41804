// Flows, from the editor to a visitor who talks with one.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { accessible, shot } from "../browser.mjs";
import { call, member, newCompany, open, until } from "../world.mjs";
import { say, visitor } from "../widgets.mjs";

let company;
let token;

const row = (p, path) => p.locator(`.flow-edit [data-row="${path}"]`);
const shapeOf = (p) =>
  p
    .locator(".flow-edit .flow-open")
    .evaluateAll((all) =>
      all.map((x) => `${x.dataset.row.replace("steps.", "")} ${x.querySelector(".cut").textContent}`),
    );

async function add(p, kind, list = "steps") {
  const button =
    list === "steps"
      ? p.locator(".flow-edit .flow-steps > .flow-list > .flow-gap.last button")
      : p.locator(
          `.flow-edit [data-path="${list.replace(/\.(then|else)$/, "")}"] > [data-branch="${list.split(".").at(-1)}"] > .flow-list > .flow-gap.last button`,
        );
  await button.click();
  // By the keyboard: a click may scroll the page first, and then the menu hides with its button.
  await p
    .getByRole("menuitem", { name: new RegExp("^" + kind + "\\b") })
    .first()
    .press("Enter");
}

describe("flows", () => {
  beforeEach(async () => {
    company = await newCompany();
    token = company.token;
  });

  it("are made in the editor, tried, published, talked with in a chat, and their runs are shown", async (t) => {
    const p = await open(t, company, "/flows");
    await p.context().route("**/flows/overview*", (route) => route.fulfill({ json: { data: [] } }));
    await p.reload();
    await p.getByRole("heading", { name: "No flows yet" }).waitFor();
    await accessible(p, "no flows");
    await shot(p, "panel-flows-empty");
    await p.context().unroute("**/flows/overview*");
    await p.getByRole("button", { name: "New flow" }).click();
    const form = p.getByRole("dialog");
    await form.getByRole("radio", { name: "Empty flow" }).check();
    await form.getByLabel("Name").fill("Boat trip");
    await accessible(p, "adding a flow");
    await form.getByRole("button", { name: "New flow" }).click();
    await p.getByRole("heading", { name: "Boat trip", level: 1 }).waitFor();
    await p.getByText("Not live until you publish it.").waitFor();

    await p.getByRole("combobox", { name: "Keywords" }).fill("Boat");
    await p.keyboard.press("Enter");
    await add(p, "Message");
    await p.getByText("1 issue to fix").waitFor();
    await p.getByLabel("Text", { exact: true }).fill("Ahoy");
    await p.getByRole("button", { name: "Insert variable" }).click();
    await p.getByRole("menuitem", { name: "first_name", exact: true }).click();
    assert.equal(await p.getByLabel("Text", { exact: true }).inputValue(), "Ahoy{{first_name}}");
    await p.getByLabel("Text", { exact: true }).fill("Ahoy, shall we sail?");
    await p.getByText("Ready to publish").waitFor();
    await add(p, "Question");
    await p.getByLabel("Save reply as").fill("sail again");
    await p.getByText("Use letters, digits and underscores").first().waitFor();
    assert.ok(await p.getByRole("button", { name: "Publish", exact: true }).isDisabled());
    await shot(p, "panel-flow-fault");
    await p.getByLabel("Save reply as").fill("sail");
    await p.getByRole("combobox", { name: "Choices" }).fill("Yes");
    await p.keyboard.press("Enter");
    await p.getByRole("combobox", { name: "Choices" }).fill("No");
    await p.keyboard.press("Enter");
    await add(p, "Condition");
    await p.getByRole("textbox", { name: "Condition" }).fill("sail == 'Yes'");
    await add(p, "Set variables", "steps.2.then");
    await p.getByRole("button", { name: "New variable" }).click();
    await p.getByPlaceholder("Name").fill("port");
    await p.getByPlaceholder("Value").fill("Vigo");
    await add(p, "Message", "steps.2.then");
    await p.getByLabel("Text", { exact: true }).fill("See you in {{port}}.");
    await add(p, "Message", "steps.2.else");
    await p.getByLabel("Text", { exact: true }).fill("Another day, then.");
    await add(p, "End");
    await p.getByText("Ready to publish").waitFor();
    assert.deepEqual(await shapeOf(p), [
      "0 Ahoy, shall we sail?",
      "1 sail: Yes · No",
      "2 sail == 'Yes'",
      "2.then.0 port = Vigo",
      "2.then.1 See you in {{port}}.",
      "2.else.0 Another day, then.",
      "3 ",
    ]);
    assert.equal(await p.locator(".flow-drawing .flow-box").count(), 7);
    await accessible(p, "the editor");
    await shot(p, "panel-flow-editor");

    await p.getByText("Test run", { exact: true }).click();
    await p.getByRole("button", { name: "Start test run" }).click();
    const log = p.getByRole("log", { name: "Test run" });
    await log.getByText("Ahoy, shall we sail?").waitFor();
    await p.locator('.flow-edit .flow-row[data-current="yes"] [data-row="steps.1"]').waitFor();
    await p.locator('.flow-box[data-current="yes"]').waitFor();
    await p.getByLabel("Reply as the contact").fill("perhaps");
    await p.keyboard.press("Enter");
    await log.getByText("Not valid: perhaps").waitFor();
    await p.getByRole("button", { name: "Yes", exact: true }).click();
    await log.getByText("See you in Vigo.").waitFor();
    await log.getByText("Flow ended. Conversation resolved.").waitFor();
    const variables = p.locator(".flow-variables");
    assert.match(await variables.innerText(), /port\s+(\(changed\)\s+)?Vigo/);
    await accessible(p, "a test run");
    await shot(p, "panel-flow-try");
    assert.deepEqual((await call("GET", "/panel/v1/flow-runs", token)).data, [], "a test run is no run");

    // What is not saved is not lost by leaving.
    await p.getByRole("link", { name: "Agents" }).click();
    await p
      .getByRole("dialog", { name: "Leave without saving?" })
      .getByRole("button", { name: "Keep editing" })
      .click();
    await p.keyboard.press("Control+s");
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
    await p.reload();
    await p.getByText("Ready to publish").waitFor();
    assert.equal((await shapeOf(p)).length, 7, "the draft is kept");
    await p.getByRole("button", { name: "Publish", exact: true }).click();
    await p.getByText("Published as version 1").waitFor();
    await p.getByText("Version 1", { exact: true }).first().waitFor();

    const v = await visitor(t, company);
    await say(v.frame, "BOAT!");
    await v.frame.getByText("Ahoy, shall we sail?", { exact: true }).waitFor();
    await v.frame.getByRole("button", { name: "Yes", exact: true }).click();
    await v.frame.getByText("See you in Vigo.", { exact: true }).waitFor();

    await p.getByRole("tab", { name: "Runs" }).click();
    await p.getByRole("row").filter({ hasText: "Flow ended" }).getByRole("link").click();
    const what = p.getByRole("region", { name: "Activity" });
    await what.getByText("Reply: Yes").waitFor();
    await what.getByText("Condition: True").waitFor();
    await what.getByText("port = Vigo").waitFor();
    assert.equal(await what.getByRole("listitem").count(), 7);
    await p.getByText("a keyword").first().waitFor();
    await shot(p, "panel-flow-run");
    await what.getByRole("button", { name: "Step 3 yes 1" }).click();
    await p.locator('.flow-row[data-chosen="yes"] [data-row="steps.2.then.0"]').waitFor();
    await p.getByRole("link", { name: "Open conversation" }).click();
    await p.getByRole("log").getByText("See you in Vigo.").waitFor();
  });

  it("are moved in by keyboard, by the menu and by dragging", async (t) => {
    const steps = [{ say: "one" }, { if: "a == 'b'", then: [{ say: "two" }], else: [] }, { say: "three" }];
    const { id } = await call("POST", "/panel/v1/flows/drafts", token, {
      flow: { name: "Moving", trigger: {}, steps },
    });
    const p = await open(t, company, "/flows/" + id);
    const want = (wanted, what) => until(async () => isDeepStrictEqual(await shapeOf(p), wanted), what);
    await row(p, "steps.0").focus();
    await p.keyboard.press("Alt+ArrowDown");
    await want(["0 a == 'b'", "0.then.0 two", "1 one", "2 three"], "down");
    assert.equal(await p.evaluate(() => document.activeElement.dataset.row), "steps.1", "the focus stays on the step");
    await p.keyboard.press("Alt+ArrowRight");
    await want(["0 a == 'b'", "0.then.0 two", "0.then.1 one", "1 three"], "in");
    await p.keyboard.press("Alt+ArrowUp");
    await p.keyboard.press("Alt+ArrowLeft");
    await want(["0 a == 'b'", "0.then.0 two", "1 one", "2 three"], "out");
    await p.keyboard.press("Control+d");
    await want(["0 a == 'b'", "0.then.0 two", "1 one", "2 one", "3 three"], "duplicate");
    await p.keyboard.press("Delete");
    await want(["0 a == 'b'", "0.then.0 two", "1 one", "2 three"], "delete");
    await p.keyboard.press("ArrowUp");
    assert.equal(await p.evaluate(() => document.activeElement.dataset.row), "steps.1");
    await p.getByRole("button", { name: "Actions for step 2", exact: true }).click();
    await p.getByRole("menuitem", { name: "Move into “Otherwise” above" }).click();
    await want(["0 a == 'b'", "0.then.0 two", "0.else.0 one", "1 three"], "into the other branch");
    const gap = p.locator('[data-branch="then"] .flow-gap').first();
    await p.locator('[data-path="steps.1"] > .flow-row .flow-grip').hover();
    await p.mouse.down();
    await gap.hover();
    await p.locator(".flow-steps[data-dragging]").waitFor(); // the gaps have grown
    let step = 0;
    let before;
    await until(async () => {
      // the gap grows under the pointer: until it stands still there
      const box = await gap.boundingBox();
      await p.mouse.move(box.x + box.width / 2 + (step++ % 2), box.y + box.height / 2);
      const still = isDeepStrictEqual(box, before);
      before = box;
      return still && (await gap.getAttribute("data-over")) !== null;
    }, "it is over the gap");
    await p.mouse.up();
    await want(["0 a == 'b'", "0.then.0 three", "0.then.1 two", "0.else.0 one"], "dragged");
    await p.keyboard.press("Control+s");
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
    const { flow } = await call("GET", `/panel/v1/flows/${id}/draft`, token);
    assert.deepEqual(flow.steps, [
      { if: "a == 'b'", then: [{ say: "three" }, { say: "two" }], else: [{ say: "one" }] },
    ]);
    await p.getByRole("button", { name: "Actions", exact: true }).click();
    await p.getByRole("menuitem", { name: "Remove flow" }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await p.getByRole("heading", { name: "Flows", level: 1 }).waitFor();
    assert.equal(await p.getByText("Moving").count(), 0);
  });

  it("have forms for every kind of step, and outcomes that are typed in a test run", async (t) => {
    const p = await open(t, company, "/flows");
    await p.getByRole("button", { name: "New flow" }).click();
    await p.getByRole("radio", { name: "Empty flow" }).check();
    await p.getByRole("dialog").getByLabel("Name").fill("All kinds");
    await p.getByRole("dialog").getByRole("button", { name: "New flow" }).click();
    await p.getByRole("heading", { name: "All kinds", level: 1 }).waitFor();
    await add(p, "Call an API");
    await p.getByRole("combobox", { name: "Method" }).click();
    await p.getByRole("option", { name: "POST" }).click();
    await p.getByLabel("URL").fill("https://example.com/orders/{{number}}");
    await p.getByLabel("Body").fill('{"who": "{{first_name}}"}');
    await p.getByLabel("Save HTTP status as").fill("code");
    await p.getByRole("button", { name: "New value" }).click();
    await p.getByPlaceholder("Name").last().fill("total");
    await p.getByPlaceholder("Path").fill("order.total");
    await shot(p, "panel-flow-http");
    await add(p, "Wait");
    await p.getByLabel("Duration", { exact: true }).fill("2h");
    await add(p, "Send template");
    const template = p.getByRole("combobox", { name: "Template" });
    await template.click();
    await p.getByRole("option").first().click();
    await shot(p, "panel-flow-template");
    for (const box of await p.locator(".flow-form .flow-said textarea").all())
      if (await box.isVisible()) await box.fill("{{first_name}}");
    await add(p, "Call the contact");
    await p.getByRole("combobox", { name: "Agent" }).click();
    await p.getByRole("option").first().click();
    await add(p, "Go to");
    await p.getByRole("combobox", { name: "Step", exact: true }).click();
    await p.getByRole("option", { name: /^2 · Wait/ }).click();
    await row(p, "steps.1").getByText("step-1").waitFor();
    await add(p, "Hand over");
    await p.getByLabel("Reason").fill("They want more");
    await p.getByText("Ready to publish").waitFor();
    await p.getByText("Test run", { exact: true }).click();
    await p.getByRole("button", { name: "Start test run" }).click();
    await p.getByText("POST https://example.com/orders").waitFor();
    await p.getByText('{"who": "Ana"}').waitFor();
    await accessible(p, "the outcome of a request");
    await p.getByLabel("total").fill("12");
    await p.getByRole("button", { name: "Succeed" }).click();
    await p.getByText("Waits 2 hours.").waitFor();
    await p.getByRole("button", { name: "Skip the wait" }).click();
    await p.getByText("2 hours later").waitFor();
    await p.locator(".flow-request").getByText('"name"').waitFor();
    await p.getByRole("button", { name: "Succeed" }).click();
    await p.locator(".flow-request").getByText('"agent"').waitFor();
    await p.getByRole("button", { name: "Fail" }).click();
    await p.getByText(/steps\.3: Fail/).waitFor();
    await p.getByRole("button", { name: "Undo the last reply" }).click();
    await p.getByRole("button", { name: "Succeed" }).waitFor();
    assert.match(await p.locator(".flow-variables").innerText(), /total\s+12/);
    await shot(p, "panel-flow-outcome");
    await p.keyboard.press("Control+s");
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
  });

  it("keep their versions, of which a former one becomes the draft again; a run is stopped", async (t) => {
    const first = { name: "Versions", trigger: { keywords: ["versions"] }, steps: [{ say: "First?" }, { ask: "a" }] };
    const made = await call("POST", "/panel/v1/flows/drafts", token, { flow: first });
    await call("POST", `/panel/v1/flows/${made.id}/publish`, token);
    const v = await visitor(t, company);
    await say(v.frame, "versions");
    await v.frame.getByText("First?", { exact: true }).waitFor();
    await call("PUT", `/panel/v1/flows/${made.id}/draft`, token, { flow: { ...first, steps: [{ say: "Second." }] } });
    await call("POST", `/panel/v1/flows/${made.id}/publish`, token);

    const p = await open(t, company, `/flows/${made.id}?tab=versions`);
    await p.getByRole("row", { name: /^2 This version is live/ }).waitFor();
    await p.getByRole("button", { name: "View: 1" }).click();
    const drawer = p.getByRole("dialog", { name: "Version 1" });
    await drawer.locator(".flow-open").first().getByText("First?").waitFor();
    await accessible(p, "a former version");
    await shot(p, "panel-flow-version");
    await drawer.getByRole("button", { name: "Use as draft" }).click();
    await row(p, "steps.0").getByText("First?").waitFor();
    await p.getByText("Version 2 is live.").waitFor();
    await p.getByRole("button", { name: "Publish", exact: true }).click();
    await p.getByText("Published as version 1").waitFor();

    await p.getByRole("link", { name: "Flows" }).first().click();
    await p.getByRole("tab", { name: "Runs" }).click();
    await p.getByRole("row").filter({ hasText: "Waiting for a reply" }).filter({ hasText: "Versions" }).waitFor();
    await shot(p, "panel-flow-runs");
    await p
      .getByRole("row")
      .filter({ hasText: "Waiting for a reply" })
      .filter({ hasText: "Versions" })
      .getByRole("link")
      .first()
      .click();
    await p.getByRole("button", { name: "Stop run" }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Stop run" }).click();
    await p.getByText("Run stopped").waitFor();
    await p
      .getByRole("region", { name: "Activity" })
      .getByText(/^Stopped: By/)
      .waitFor();
    assert.equal(await p.getByRole("button", { name: "Stop run" }).count(), 0);
  });

  it("are shown and not changed to who may only read", async (t) => {
    const flow = {
      name: "Boat trip",
      trigger: { keywords: ["boat"] },
      steps: [{ say: "Ahoy, shall we sail?" }, { ask: "sail", choices: ["Yes", "No"] }],
    };
    await call("POST", "/panel/v1/flows/drafts", token, { flow });
    const p = await open(t, company, "/flows", {}, await member(company, "Rita", "viewer"));
    await p.getByRole("link", { name: "Boat trip" }).waitFor();
    assert.equal(await p.getByRole("button", { name: "New flow" }).count(), 0);
    await shot(p, "panel-flows");
    await p.getByRole("link", { name: "Boat trip" }).click();
    await row(p, "steps.0").waitFor();
    assert.equal(await p.getByRole("button", { name: "Publish", exact: true }).count(), 0);
    assert.equal(await p.locator(".flow-edit .flow-gap").count(), 0);
  });
});
