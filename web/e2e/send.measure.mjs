// Fifty thousand rows, of which two hundred are bad; the tab is closed on the way.
import assert from "node:assert/strict";
import { it } from "node:test";
import { shot } from "./browser.mjs";
import { browser, call, newCompany, open, withBrowser } from "./world.mjs";
import { choose } from "./sending.mjs";

withBrowser();

it("takes fifty thousand rows, and no task of the page is long", async (t) => {
  const company = await newCompany();
  const rows = 50_000,
    every = 250,
    begin = Date.now(),
    took = {};
  const number = (i) => "346" + String(Math.floor(i / 9000)).padStart(4, "0") + (1000 + (i % 9000));
  const faults = [
    (i) => `,Ana ${i},Monday`,
    (i) => `12${i % 10},Ana ${i},Monday`,
    (i) => `${number(i)},,Monday`,
    (i) => `${number(i - 1)},Ana ${i},Monday`,
  ];
  const lines = ["phone,first_name,day"];
  for (let i = 0; i < rows; i++)
    lines.push(i % every === 7 ? faults[Math.floor(i / every) % 4](i) : `${number(i)},Ana ${i},Monday`);
  const { writeFile } = await import("node:fs/promises");
  const path = `${process.env.TMPDIR ?? "/tmp"}/fifty-${process.pid}.csv`;
  await writeFile(path, lines.join("\n"));
  const watch = async (p) =>
    p.evaluate(() => {
      globalThis.tasks = [];
      new PerformanceObserver((l) =>
        globalThis.tasks.push(...l.getEntries().map((e) => Math.round(e.duration))),
      ).observe({ type: "longtask" });
    });
  // A task's own time is what it costs on a machine that does nothing else.
  const own = async () => {
    const { traceEvents: all } = JSON.parse((await browser.stopTracing()).toString());
    const pages = new Set(
      all.filter((e) => e.name === "thread_name" && e.args.name === "CrRendererMain").map((e) => `${e.pid}/${e.tid}`),
    );
    return Math.round(
      all.reduce(
        (most, e) => (e.ph === "X" && e.tdur && pages.has(`${e.pid}/${e.tid}`) ? Math.max(most, e.tdur / 1000) : most),
        0,
      ),
    );
  };
  const trace = (p) => browser.startTracing(p, { categories: ["toplevel"] });
  const longest = (p) => p.evaluate(() => Math.max(0, ...globalThis.tasks));
  const step = (name) => {
    took[name] = Date.now() - step.at;
    step.at = Date.now();
  };
  step.at = begin;
  const p = await open(t, company, "/send?tab=files");
  await watch(p);
  await trace(p);
  step.at = Date.now();
  await p.locator('input[type="file"]').setInputFiles(path);
  await p.getByText("50,000 rows").waitFor();
  step("upload");
  await choose(p, "hello", /hello \(en\)/);
  await p.getByRole("textbox", { name: "Campaign" }).fill("fifty");
  step.at = Date.now();
  await p.getByRole("button", { name: "Check rows" }).click();
  await p.getByRole("region", { name: "200 of 50,000 rows are not sent" }).waitFor();
  step("check");
  await shot(p, "send-fifty");
  await p.getByRole("button", { name: "Send to 49,800 people" }).click();
  await p.getByLabel("Type 49800 to confirm").fill("49800");
  await p.getByRole("dialog").getByRole("button", { name: "Send" }).click();
  step.at = Date.now();
  await p.locator('[data-state="sending"], [data-state="done"]').first().waitFor();
  await p.getByText(/[1-9][\d,]* of 49,800 accepted/).waitFor();
  const first = await longest(p),
    firstOwn = await own(),
    address = p.url().replace(/^.*\/panel/, "");
  await shot(p, "send-fifty-sending");
  await p.close();
  const other = await open(t, company, address);
  await watch(other);
  await trace(other);
  await other.getByText("49,800 of 49,800 accepted").waitFor({ timeout: 300_000 });
  await other.getByText("All 49,800 are accepted").waitFor();
  step("send");
  const second = await longest(other),
    secondOwn = await own();
  const seen = new Map();
  const list = (cursor) =>
    call("GET", `/functions/v1/notify?campaign=fifty&limit=100&cursor=${cursor}&access_key=${company.access_key}`);
  for (let done = false; !done;) {
    // until the sandbox has the last one
    let n = 0,
      read = 0;
    for (let cursor = ""; ;) {
      const page = await list(cursor);
      for (const x of page.data) {
        n += Object.values(x.counts).reduce((a, b) => a + b, 0);
        read += x.counts.read ?? 0;
      }
      if (!(cursor = page.next_cursor)) break;
    }
    assert.equal(n, 49_800);
    done = read === n;
    if (!done) await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  step("delivery");
  for (let cursor = ""; ;) {
    const page = await list(cursor);
    for (const x of page.data)
      for (const r of (
        await call("GET", `/functions/v1/notify/${x.notification_id}?limit=100&access_key=${company.access_key}`)
      ).recipients)
        seen.set(r.number, (seen.get(r.number) ?? 0) + r.attempts);
    if (!(cursor = page.next_cursor)) break;
  }
  t.diagnostic(JSON.stringify({ took, longest: [first, second], own: [firstOwn, secondOwn], numbers: seen.size }));
  assert.ok(seen.size === 49_800 && [...seen.values()].every((n) => n === 1), "a number got nothing, or two");
  assert.ok(firstOwn > 0 && Math.max(firstOwn, secondOwn) <= 100, `a task took ${firstOwn} ms, ${secondOwn} ms`);
});
