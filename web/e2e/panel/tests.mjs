// The tests of an agent.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, shot } from "../browser.mjs";
import { act } from "../lists.mjs";
import { call, newCompany, open, until } from "../world.mjs";

let company;
let agent;

const suite = `name: visitors
cases:
  - name: opening hours
    turns:
      - say: When are you open?
        expect: {article: Opening hours, outcome: answered}
  - name: parking
    turns:
      - say: Is there a car park?
        expect: {article: Parking}
`;

describe("tests of an agent", () => {
  beforeEach(async () => {
    company = await newCompany();
    const articles = [
      { title: "Opening hours", text: "We are open from nine to five.", url: "", language: "en" },
      { title: "Meeting point", text: "We meet at the lighthouse.", url: "", language: "en" },
    ];
    await call("POST", "/panel/v1/knowledge", company.token, { id: "hours", articles });
    agent = await call("POST", "/panel/v1/agents", company.token, {
      name: "Night desk",
      language: "en",
      engine: "builtin",
      knowledge: ["hours"],
      tools: ["search", "handoff"],
    });
  });

  it("are written, run, compared, and run before a change is saved", async (t) => {
    const p = await open(t, company, "/agents/" + agent.id);
    await p.getByRole("tab", { name: "Tests" }).click();
    await p.getByRole("heading", { name: "No tests yet" }).waitFor();
    await accessible(p, "no tests");
    await p.getByRole("button", { name: "New test" }).click();
    const source = p.getByLabel("Tests in YAML");
    await source.fill("name: visitors\ncases:\n  - nam: hours\n");
    const fault = p.getByRole("button", { name: "Line 3" });
    await fault.waitFor();
    assert.match(await fault.textContent(), /unknown field "nam": did you mean name\?/);
    assert.equal(await p.getByRole("button", { name: "Save" }).isDisabled(), true);
    await fault.click();
    await p.keyboard.type("-");
    assert.match(await source.inputValue(), /^ {2}- -$/m);
    await source.fill(suite);
    await p.getByText("Tests: 2", { exact: true }).waitFor();
    await p.getByRole("button", { name: "Save" }).click();
    await p.getByText("Not run yet").waitFor();
    await p.getByRole("button", { name: "Run tests" }).click();
    await p.getByRole("button", { name: "parking: Failed" }).waitFor();
    assert.equal(await p.getByRole("button", { name: "opening hours: Passed" }).count(), 0);

    await call("PUT", "/panel/v1/knowledge/hours", company.token, {
      id: "hours",
      articles: [
        { title: "Opening hours", text: "We are open from nine to five.", url: "", language: "en" },
        { title: "Parking", text: "The car park is at the lighthouse.", url: "", language: "en" },
      ],
    });
    await p.getByRole("button", { name: "Run tests" }).click();
    await p.getByRole("button", { name: "parking: Passed · Failed before" }).waitFor();
    await p.getByLabel("Only failed and changed tests").uncheck();
    await until(async () => (await p.getByRole("button", { name: "opening hours: Passed" }).count()) === 2);
    await accessible(p, "the tests of an agent");
    await shot(p, "panel-agent-tests");
    await p.getByRole("button", { name: "parking: Failed" }).click();
    const drawer = p.getByRole("dialog", { name: "parking" });
    await drawer.getByText("Is there a car park?").waitFor();
    await drawer.getByText("Got: nothing").waitFor();
    await accessible(p, "the result of a test");
    await shot(p, "panel-agent-test");
    await p.keyboard.press("Escape");

    await p.getByRole("tab", { name: "General" }).click();
    await p.getByLabel("Write as a visitor").fill("Where is the car park?");
    await p.keyboard.press("Enter");
    await p.getByRole("log").getByText("The car park is at the lighthouse").waitFor();
    await p.getByRole("button", { name: "Save as a test" }).click();
    await p.getByText("Conversation saved as a test").waitFor();

    const save = p.getByRole("region", { name: "Save" }).getByRole("button", { name: "Save" });
    await p.getByLabel("Persona").fill("Type");
    await save.click();
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" }); // all tests pass
    await p.getByRole("combobox", { name: "Knowledge" }).focus();
    await p.keyboard.press("Backspace");
    await save.click();
    const gate = p.getByRole("dialog", { name: "Run the tests before saving" });
    await gate.getByText("Failing with your changes: 3. Of these, passed in the last run: 3.").waitFor();
    await gate.locator("summary", { hasText: "opening hours" }).click();
    await gate.getByText("When are you open?").waitFor();
    await accessible(p, "tests that fail before a change is saved");
    await shot(p, "panel-agent-gate");
    await gate.getByRole("button", { name: "Back to editing" }).click();
    await gate.waitFor({ state: "detached" });
    assert.deepEqual((await call("GET", "/panel/v1/agents/" + agent.id, company.token)).knowledge, ["hours"]);
    await save.click();
    await gate.getByRole("button", { name: "Save anyway" }).click();
    await p.getByRole("region", { name: "Save" }).waitFor({ state: "detached" });
    assert.deepEqual((await call("GET", "/panel/v1/agents/" + agent.id, company.token)).knowledge, []);
  });

  it("run before an article is removed, on a phone too", async (t) => {
    await call("POST", "/panel/v1/suites", company.token, {
      agent: agent.id,
      source: suite.split("  - name: parking")[0],
    });
    const p = await open(t, company, "/knowledge/hours?article=0", {
      viewport: { width: 390, height: 780 },
      colorScheme: "dark",
    });
    await act(p, "Remove article", "Opening hours");
    await p.getByRole("dialog", { name: "Remove “Opening hours”?" }).getByRole("button", { name: "Remove" }).click();
    const gate = p.getByRole("dialog", { name: "Run the tests before saving" });
    await gate.getByText("Failing with your changes: 1.").waitFor();
    await gate.getByRole("button", { name: "Back to editing" }).click();
    await gate.waitFor({ state: "detached" });
    assert.equal((await call("GET", "/panel/v1/knowledge/hours", company.token)).articles.length, 2);

    await p.goto(`${company.panel_url}/agents/${agent.id}?tab=tests`);
    await p.getByRole("button", { name: "opening hours: Failed" }).waitFor();
    await accessible(p, "the tests of an agent on a phone");
    assert.equal(
      await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
      true,
      "it scrolls sideways",
    );
    await shot(p, "panel-agent-tests-phone-dark");
  });
});
