// The pages of telephone calls: one is placed as a script would, called on the sandbox's telephone, watched, and heard.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, looks, shot } from "../browser.mjs";
import { call, direct, member, newCompany, open, until } from "../world.mjs";
import { row, withKey } from "../sent.mjs";

let company;

/** place has the demo's agent call a number of the sandbox. */
async function place(number, name, more = {}) {
  const r = await call("POST", withKey(company, "/functions/v1/notify/voice"), "", {
    contact: { number, first_name: name, last_name: "Ruiz" },
    recipient_id: "demo-line",
    agent_id: company.agent_id,
    notification_type: "transactional",
    campaign_name: "tours-tomorrow",
    ...more,
  });
  return r.notification_id;
}

/** recording gives the length of a call's recording, and how loud our side is between two moments, in milliseconds. */
async function recording(id) {
  const r = await fetch(direct() + withKey(company, `/functions/v1/calls/${id}/recording`));
  assert.equal(r.headers.get("content-type"), "audio/wav");
  const file = await r.arrayBuffer();
  assert.equal(new DataView(file).getUint16(22, true), 2, "each side has a channel");
  const pcm = new Int16Array(file.slice(44)).filter((_, i) => i % 2 === 1);
  return {
    length: pcm.length / 8,
    loudness: (from, to) => {
      const part = pcm.subarray(Math.max(0, from * 8), to * 8);
      return Math.sqrt(part.reduce((sum, x) => sum + x * x, 0) / part.length);
    },
  };
}

const time = (p) => p.evaluate(() => document.querySelector("audio").currentTime);

describe("the calls of a company", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("appear as they are placed, show what was said, found out and recorded, are played, and lead to the conversation", async (t) => {
    const p = await open(t, company, "/calls");
    await p.getByRole("heading", { name: "Calls", level: 1 }).waitFor();
    const told = await place("34600300018", "Ana");
    await row(p, told).waitFor();
    await row(p, told).getByText("Talking").waitFor();
    await accessible(p, "a list with a call under way");
    await shot(p, "calls-list-live");

    await row(p, told).getByRole("link", { name: "Ana Ruiz" }).click();
    await p.getByText("Call in progress").waitFor();
    await p.locator(".calls-turn", { hasText: "Hello Ana, this is Harbour Tours." }).waitFor();
    await shot(p, "calls-page-live");
    await p.locator(".calls-turn", { hasText: "Key 1" }).first().waitFor();
    await p.locator(".calls-turn", { hasText: "How many of you will come?" }).waitFor();
    assert.equal(await p.locator("audio").count(), 0, "there is a player before there is a recording");

    await p.getByRole("slider").waitFor();
    await p.locator(".calls-head", { hasText: "Completed" }).waitFor();
    const results = p.getByRole("region", { name: "Result" });
    await results.locator("div", { hasText: "confirmed" }).getByText("Yes").waitFor();
    await results.locator("div", { hasText: "people" }).getByText("One").waitFor();
    const steps = await p.getByRole("region", { name: "Timeline" }).locator("li > span").allInnerTexts();
    assert.deepEqual(
      steps.map((s) => s.split("\n")[0]),
      ["Requested", "Dialed", "Rang", "Answered", "Completed"],
    );

    const api = await call("GET", withKey(company, "/functions/v1/calls/" + told));
    assert.deepEqual(api.result, { confirmed: true, people: "One" });
    assert.equal(api.has_recording, true);
    // The third key answers nothing: it may be a turn too, before the telephone hangs up.
    assert.deepEqual(
      api.turns
        .filter((x) => x.digits)
        .slice(0, 2)
        .map((x) => [x.author, x.text, x.digits]),
      [
        ["callee", "Yes", "1"],
        ["callee", "One", "1"],
      ],
    );
    assert.ok(
      api.turns.every((x, i) => x.offset_ms >= (api.turns[i - 1]?.offset_ms ?? 0)),
      "the turns lie in the recording in their order",
    );
    const { length, loudness } = await recording(told);
    // The telephone may hang up during the last sentence.
    const said = api.turns.filter((x) => x.author === "agent" && x.offset_ms + 1200 <= length).slice(1);
    assert.ok(said.length >= 1, "a sentence after the greeting is recorded");
    for (const x of said) {
      assert.ok(loudness(x.offset_ms - 400, x.offset_ms - 100) < 60, `there is sound before ${x.text}`);
      assert.ok(loudness(x.offset_ms, x.offset_ms + 1200) > 100, `there is no sound at ${x.text}`);
    }
    await p.evaluate(() => globalThis.scrollTo(0, 0));
    await looks(p, "calls-page");

    // They are played: the time moves, a turn is found by a click, the one that is heard is marked, keys work.
    await p.getByRole("button", { name: "Play" }).click();
    await until(async () => (await time(p)) > 0.4, "the recording plays");
    await p.locator(".calls-turn[data-now]", { hasText: "This is an automated call" }).waitFor();
    const turn = p.locator(".calls-turn", { hasText: "How many of you will come?" });
    await turn.getByRole("button", { name: /^Listen from/ }).click();
    const { turns } = await call("GET", withKey(company, "/functions/v1/calls/" + told));
    const at = turns.find((x) => x.text === "How many of you will come?").offset_ms / 1000;
    await until(async () => Math.abs((await time(p)) - at) < 2, "it goes to the turn");
    await p.locator(".calls-turn[data-now]", { hasText: "How many of you will come?" }).waitFor();

    await p.getByRole("heading", { name: "Transcript" }).click();
    await p.keyboard.press(" ");
    await p.getByRole("button", { name: "Play" }).waitFor();
    const stopped = await time(p);
    await p.keyboard.press("ArrowLeft");
    assert.ok(Math.abs((await time(p)) - (stopped - 5)) < 0.3, "an arrow moves 5 seconds");
    await p.getByRole("slider").focus();
    await p.keyboard.press("Home");
    assert.equal(await time(p), 0);
    await p.keyboard.press("End");
    await p.getByRole("slider").and(p.locator('[aria-valuetext*="of"]')).waitFor();
    await p.getByText("2×").click();
    assert.equal(await p.evaluate(() => document.querySelector("audio").playbackRate), 2);

    // What is drawn is the sound: the pause after the greeting is flat, the greeting is not.
    await until(
      () =>
        p.evaluate(() => {
          const c = document.querySelector("canvas");
          const g = c.getContext("2d");
          const column = (x) => {
            let n = 0;
            const d = g.getImageData(Math.round(x * c.width), 0, 3, c.height).data;
            for (let i = 3; i < d.length; i += 4) if (d[i] > 0) n++;
            return n;
          };
          const all = Array.from({ length: 100 }, (_, i) => column(i / 101));
          return Math.max(...all) > 5 * Math.max(1, Math.min(...all));
        }),
      "the shape is drawn",
    );
    await p.locator(".calls-lanes", { hasText: "Ana Ruiz" }).getByText("Agent or team").waitFor();
    const [download] = await Promise.all([
      p.waitForEvent("download"),
      p.getByRole("link", { name: "Download recording" }).click(),
    ]);
    assert.equal(download.suggestedFilename(), "call.wav");

    await p.getByRole("link", { name: "Open conversation" }).click();
    await p.getByRole("heading", { name: "Inbox" }).waitFor();
    await p.locator(".inbox-bubble", { hasText: "How many of you will come?" }).waitFor();
  });

  it("are hung up while under way, by who may", async (t) => {
    const id = await place("34600300020", "Sam");
    const other = await open(t, company, "/calls/" + id, {}, await member(company, "Vic", "viewer"));
    await other.getByText("Call in progress").waitFor();
    assert.equal(await other.getByRole("button", { name: "Hang up" }).count(), 0, "a viewer is offered to hang up");
    const refused = await other.evaluate(
      async (path) => (await fetch(path, { method: "POST", headers: { "X-Carillon-Panel": "1" } })).status,
      `/panel/v1/calls/${id}/hangup`,
    );
    assert.equal(refused, 403);

    const p = await open(t, company, "/calls/" + id);
    await p.getByRole("button", { name: "Hang up" }).click();
    await p.getByRole("dialog").getByRole("button", { name: "Hang up" }).click();
    await p.getByText("Call ended").waitFor();
    await p.getByText("Ended by Carillon").first().waitFor();
    await other.getByText("Ended by Carillon").first().waitFor();
    assert.equal((await call("GET", withKey(company, "/functions/v1/calls/" + id))).ended_by, "system");
  });
});
