// Flows, from the editor to a visitor who talks with one.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { accessible, shot } from "../browser.mjs";
import { act } from "../lists.mjs";
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
  await p.locator(`.flow-edit [data-last="${list}"] button`).click();
  // By the keyboard: a click may scroll the page first, and then the menu hides with its button.
  await p
    .getByRole("menuitem", { name: new RegExp("^" + kind + "\\b") })
    .first()
    .press("Enter");
}

/** tabTo presses Tab until something has the focus. */
async function tabTo(p, target, key = "Tab") {
  for (let n = 0; n < 80; n++) {
    if (await target.evaluate((x) => x === document.activeElement)) return;
    await p.keyboard.press(key);
  }
  assert.fail(`${target} is not reached by ${key}`);
}

/** pick opens the menu of the button with the focus, and goes to a kind of step by the arrows. */
async function pick(p, kind, open = "Enter") {
  await p.keyboard.press(open);
  const item = p.getByRole("menuitem", { name: new RegExp("^" + kind + "\\b") });
  await item.waitFor();
  await p.waitForFunction(() => document.activeElement?.closest("[role=menu]")); // else an arrow scrolls the page, and the menu hides
  await tabTo(p, item, "ArrowDown");
  await p.keyboard.press("Enter");
  await item.waitFor({ state: "detached" });
}

const focused = (p) =>
  p.evaluate(
    () => document.activeElement.getAttribute("aria-label") ?? document.activeElement.labels?.[0]?.textContent,
  );
const focuses = (p, name) => until(async () => (await focused(p)) === name, "the focus is on " + name);

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
    assert.equal(await p.getByRole("combobox", { name: "Variable 1" }).inputValue(), "sail");
    await p.getByText("Enter a value", { exact: true }).waitFor(); // the check's finding moves what is below
    await p.getByText("Expression", { exact: true }).click();
    await p.getByRole("textbox", { name: "Condition" }).fill("sail is Yes");
    await p.getByText("This isn't a valid condition. Write sail == 'Yes'.").first().waitFor();
    await p.getByText("This condition can't be shown as rows.").waitFor();
    await shot(p, "panel-flow-condition-fault");
    await p.getByRole("textbox", { name: "Condition" }).fill("sail == 'Yes'");
    assert.equal(await p.getByRole("combobox", { name: "Value 1" }).inputValue(), "Yes");
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
      "1 sail · Yes · No",
      "2 sail is “Yes”",
      "2.then.0 port = Vigo",
      "2.then.1 See you in {{port}}.",
      "2.else.0 Another day, then.",
      "3 ",
    ]);
    assert.equal(await p.locator("[data-box]").count(), 7);
    await accessible(p, "the editor");
    await shot(p, "panel-flow-editor");

    await p.getByText("Test run", { exact: true }).click();
    await p.getByRole("button", { name: "Start test run" }).click();
    const log = p.getByRole("log", { name: "Test run" });
    await log.getByText("Ahoy, shall we sail?").waitFor();
    await p.locator('.flow-edit .flow-row[data-current="yes"] [data-row="steps.1"]').waitFor();
    await p.locator('[data-box][data-current="yes"]').waitFor();
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
    await what.getByText("Condition: Yes").waitFor();
    await what.getByText("port = Vigo").waitFor();
    assert.equal(await what.getByRole("listitem").count(), 7);
    await p.getByText("a keyword").first().waitFor();
    await shot(p, "panel-flow-run");
    await what.getByRole("button", { name: "Step 3 yes 1" }).click();
    await p.locator('.flow-row[data-chosen="yes"] [data-row="steps.2.then.0"]').waitFor();
    await p.getByRole("link", { name: "Open conversation" }).click();
    await p.getByRole("log").getByText("See you in Vigo.").waitFor();
  });

  it("are made by the keyboard alone: question, condition, template", async (t) => {
    const { data } = await call("GET", "/panel/v1/templates", token);
    const template = data.find(
      (x) => x.status === "approved" && x.variables.length === 1 && /^body/.test(x.variables[0]),
    );
    const p = await open(t, company, "/flows");
    await tabTo(p, p.getByRole("button", { name: "New flow" }));
    await p.keyboard.press("Enter");
    const form = p.getByRole("dialog");
    await tabTo(p, form.getByRole("radio", { name: "Menu" }));
    await tabTo(p, form.getByRole("radio", { name: "Empty flow" }), "ArrowDown");
    await p.keyboard.press("Space");
    await p.keyboard.press("Tab");
    await p.keyboard.press("Control+a");
    await p.keyboard.type("Refunds");
    await p.keyboard.press("Enter");
    await p.getByRole("heading", { name: "Refunds", level: 1 }).waitFor();
    await p.getByRole("heading", { name: "Steps", level: 2 }).waitFor();
    await p.getByRole("heading", { name: "Diagram", level: 2 }).waitFor();
    await tabTo(p, p.getByRole("combobox", { name: "Keywords" }));
    await p.keyboard.type("refund");
    await p.keyboard.press("Enter");

    await tabTo(p, p.getByRole("button", { name: "New step", exact: true }));
    await pick(p, "Question");
    await focuses(p, "Question");
    await p.keyboard.type("What do you need, {{first_name}}?");
    await tabTo(p, p.getByRole("combobox", { name: "Choices" }));
    for (const choice of ["Refund", "Exchange"]) {
      await p.keyboard.type(choice);
      await p.keyboard.press("Enter");
    }
    await p.getByRole("figure", { name: "Preview" }).getByText("What do you need, Ana?").waitFor();
    await p.getByRole("figure", { name: "Preview" }).getByText("Exchange").waitFor();
    await p.getByText("Ready to publish").waitFor();
    await shot(p, "panel-flow-question");
    await tabTo(p, row(p, "steps.0"), "Shift+Tab");
    await pick(p, "Condition", "a");
    await focuses(p, "Value 1");
    assert.equal(await p.getByRole("combobox", { name: "Variable 1" }).inputValue(), "answer");
    await p.getByRole("option", { name: "Exchange" }).waitFor();
    await p.keyboard.type("Refund");
    await p.keyboard.press("Tab");
    await shot(p, "panel-flow-condition");
    await accessible(p, "a condition");
    await tabTo(p, p.locator('.flow-edit [data-last="steps.1.then"] button'));
    let arrive;
    const typed = new Promise((resolve) => (arrive = resolve));
    await p.route(/\/panel\/v1\/templates\?/, async (route) => {
      await typed;
      await route.continue();
    });
    await pick(p, "Send template");
    await focuses(p, "Template");
    await p.keyboard.type(template.name);
    arrive(); // only now: the name is typed before the list is there
    await p.getByText("The template can't be sent without it.").first().waitFor();
    const value = p.locator('.flow-edit [data-path="steps.1.then.0"] .flow-said textarea').first();
    await tabTo(p, value);
    const covered = await value.evaluate((x) => {
      const bar = document.querySelector("[data-save-bar]").getBoundingClientRect();
      return x.getBoundingClientRect().bottom > bar.top;
    });
    assert.equal(covered, false, "the save bar stands over the field with the focus");
    const name =
      /^Step 2 yes 1: Send template ?\. .+ ?\. Issue: Enter a value\. The template can't be sent without it\.$/;
    await p.getByRole("button", { name }).waitFor();
    await p.keyboard.type("{{first_name}}");
    await p.getByText("Ready to publish").waitFor();
    await shot(p, "panel-flow-template-preview");
    // Between two steps, too: the button is reached by Tab, and shows itself.
    const between = p.locator('.flow-edit [data-gap="steps.1"] button');
    await tabTo(p, between, "Shift+Tab");
    await until(async () => (await between.evaluate((x) => getComputedStyle(x).opacity)) === "1", "the button is seen");
    const size = await between.boundingBox();
    assert.ok(size.width >= 24 && size.height >= 24, JSON.stringify(size));
    await pick(p, "Message");
    await focuses(p, "Text");
    await p.keyboard.type("One moment.");
    await p.getByText("Ready to publish").waitFor();
    await tabTo(p, p.getByRole("button", { name: "Publish", exact: true }), "Shift+Tab");
    await p.keyboard.press("Enter");
    await p.getByText("Published as version 1").waitFor();
    const flows = (await call("GET", "/panel/v1/flows", token)).data;
    assert.deepEqual(flows.find((x) => x.name === "Refunds").steps, [
      { ask: "answer", question: "What do you need, {{first_name}}?", choices: ["Refund", "Exchange"] },
      { say: "One moment." },
      {
        if: "answer == 'Refund'",
        then: [
          {
            send_template: {
              name: template.name,
              language: template.language,
              variables: { [template.variables[0]]: "{{first_name}}" },
            },
          },
        ],
      },
    ]);
  });

  it("are not published where they ask nothing; a message before becomes the question", async (t) => {
    const steps = [
      { ask: "size", choices: ["S", "L"] },
      { say: "And the color?" },
      { ask: "color" },
      { if: "colour == red", then: [], else: [] },
    ];
    const { id } = await call("POST", "/panel/v1/flows/drafts", token, {
      flow: { name: "Shirts", trigger: {}, steps },
    });
    await assert.rejects(call("POST", `/panel/v1/flows/${id}/publish`, token), /steps\.0\.question/);
    const p = await open(t, company, "/flows/" + id);
    await p.getByText("1 issue to fix before publishing").click();
    const fault = "Write the question. Not every path has a message before this step.";
    await p.locator('[data-path="steps.0"] .flow-form').getByText(fault).waitFor();
    assert.ok(await p.getByRole("button", { name: "Publish", exact: true }).isDisabled());
    await accessible(p, "a question that is missing");
    await shot(p, "panel-flow-refused");
    await p.getByRole("textbox", { name: "Question" }).fill("Which size?");
    await p.getByText("Ready to publish").waitFor();

    await row(p, "steps.2").click();
    await p.getByRole("button", { name: "Move that message into this step" }).click();
    await until(
      async () => isDeepStrictEqual((await shapeOf(p)).slice(0, 2), ["0 Which size? · S · L", "1 And the color?"]),
      "merged",
    );
    assert.equal(await p.getByRole("textbox", { name: "Question" }).inputValue(), "And the color?");
    await p.getByText("Ready to publish").waitFor();
    await p.getByText("2 warnings").click();
    await p.getByText("Nothing in this flow sets red. Put text in quotes.").waitFor();
    await shot(p, "panel-flow-warned");

    // The diagram chooses, adds and removes.
    const diagram = p.getByRole("region", { name: "Diagram" }).last();
    await diagram.getByRole("button", { name: "New step at 2", exact: true }).click();
    await p.getByRole("menuitem", { name: /^Wait/ }).press("Enter");
    await until(async () => (await shapeOf(p))[1] === "1 1h", "added in the diagram");
    await focuses(p, "Duration");
    await diagram.locator('[data-box="steps.0"]').click();
    await p.locator('.flow-row[data-chosen="yes"] [data-row="steps.0"]').waitFor();
    await diagram.getByRole("button", { name: "Remove step 1" }).click();
    await until(async () => (await shapeOf(p))[0] === "0 1h", "removed in the diagram");
    await shot(p, "panel-flow-diagram");
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
    await want(["0 a is “b”", "0.then.0 two", "1 one", "2 three"], "down");
    const stays = (path) =>
      until(() => p.evaluate((x) => document.activeElement.dataset.row === x, path), "the focus stays on the step");
    await stays("steps.1");
    await p.keyboard.press("Alt+ArrowRight");
    await want(["0 a is “b”", "0.then.0 two", "0.then.1 one", "1 three"], "in");
    await p.keyboard.press("Alt+ArrowUp");
    await p.keyboard.press("Alt+ArrowLeft");
    await want(["0 a is “b”", "0.then.0 two", "1 one", "2 three"], "out");
    await p.keyboard.press("Control+d");
    await want(["0 a is “b”", "0.then.0 two", "1 one", "2 one", "3 three"], "duplicate");
    await p.keyboard.press("Delete");
    await want(["0 a is “b”", "0.then.0 two", "1 one", "2 three"], "delete");
    await p.keyboard.press("ArrowUp");
    await stays("steps.1");
    await p.getByRole("button", { name: "Actions for step 2", exact: true }).click();
    await p.getByRole("menuitem", { name: "Move into “No” above" }).click();
    await want(["0 a is “b”", "0.then.0 two", "0.else.0 one", "1 three"], "into the other branch");
    const gap = p.locator('[data-branch="then"] [data-gap]').first();
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
    await want(["0 a is “b”", "0.then.0 three", "0.then.1 two", "0.else.0 one"], "dragged");
    await p.keyboard.press("Control+s");
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
    const { flow } = await call("GET", `/panel/v1/flows/${id}/draft`, token);
    assert.deepEqual(flow.steps, [
      { if: "a == 'b'", then: [{ say: "three" }, { say: "two" }], else: [{ say: "one" }] },
    ]);
    await act(p, "Remove flow");
    await p.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await p.getByRole("heading", { name: "Flows", level: 1 }).waitFor();
    await p.getByText("Moving").first().waitFor({ state: "detached" });
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
    await p.locator(".flow-next").getByRole("figure", { name: "Preview" }).waitFor();
    await shot(p, "panel-flow-try-template");
    await p.getByRole("button", { name: "Succeed" }).click();
    await p.getByText("Calls the contact.").waitFor();
    await p.getByRole("button", { name: "Fail" }).click();
    await p.getByText(/Failed at step 4/).waitFor();
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
    await p.getByRole("row", { name: /2 Live version/ }).waitFor();
    await p.getByRole("button", { name: /^View: 1/ }).click();
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
    await until(
      async () => (await p.getByRole("button", { name: "Stop run" }).count()) === 0,
      "it can't be stopped again",
    );
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
    assert.equal(await p.locator(".flow-edit [data-gap]").count(), 0);
  });
});
