// The list of notifications while much happens, over connections that are cut.
import assert from "node:assert/strict";
import { connect, createServer as createConnections } from "node:net";
import { it } from "node:test";
import { launch, ready, shot } from "./browser.mjs";
import { newCompany, until } from "./world.mjs";
import { find, row, send } from "./sent.mjs";

it("loses nothing and moves nothing at 200 changes a second, with three cut connections", async (t) => {
  const company = await newCompany();
  const { port } = new URL(ready.panel_url);
  const sockets = new Set();
  let down = false;
  const gate = createConnections((from) => {
    if (down) {
      from.destroy();
      return;
    }
    const to = connect(Number(port), "127.0.0.1");
    for (const [a, b] of [
      [from, to],
      [to, from],
    ]) {
      sockets.add(a);
      a.pipe(b);
      a.on("error", () => b.destroy());
      a.on("close", () => {
        sockets.delete(a);
        b.destroy();
      });
    }
  });
  await new Promise((resolve) => gate.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    gate.close();
    for (const s of sockets) s.destroy();
  });
  const own = await launch(`--host-resolver-rules=MAP panel.localhost:${port} 127.0.0.1:${gate.address().port}`);
  t.after(() => own.close());

  const seconds = 60,
    each = 100,
    count = 40; // each of 100 messages is sent, delivered and read
  const begin = Date.now() + 45_000;
  const ids = [];
  for (let i = 0; i < count; i++) {
    const at = new Date(begin + (i * seconds * 1000) / count).toISOString().slice(0, 19);
    ids.push(
      await send(
        company,
        Array.from({ length: each }, (_, n) => String(34_610_000_000 + i * 1_000 + n + 100)),
        { datetime_sending: at, campaign_name: "live" },
      ),
    );
  }
  const c = await own.newContext({ locale: "en-GB", viewport: { width: 1440, height: 3200 } });
  const p = await c.newPage();
  let asked = 0;
  p.on("request", (r) => {
    if (/\/panel\/v1\/notifications\?/.test(r.url())) asked++;
  });
  await p.goto(ready.panel_url + "/notifications?campaign=live");
  await p.locator("input").nth(0).fill(company.email);
  await p.locator("input").nth(1).fill(company.password);
  await p.keyboard.press("Enter");
  await until(async () => (await p.locator("tbody tr").count()) === count, "all are listed");
  await row(p, ids[0]).hover();
  await p.evaluate(() => {
    const ranks = { scheduled: 0, queued: 1, being: 2, sent: 3, delivered: 4, read: 5, failed: 6 };
    const seen = (globalThis.seen = { faults: [], drawn: 0, samples: 0, before: new Map() });
    const look = () => {
      const order = [];
      for (const tr of document.querySelectorAll("tbody tr")) {
        const id = tr.dataset.id,
          text = tr.querySelector(".sent-words").title,
          top = Math.round(tr.getBoundingClientRect().top + scrollY);
        let total = 0,
          rank = 0;
        for (const part of text.split(" · ")) {
          const [, n, word] = /^([\d,]+) (\w+)/.exec(part) ?? [];
          total += Number(n?.replace(",", ""));
          rank += Number(n?.replace(",", "")) * ranks[word];
        }
        const was = seen.before.get(id);
        if (total !== 100) seen.faults.push(`${id}: ${text}`);
        if (was && rank < was.rank) seen.faults.push(`${id} went back: ${was.text} → ${text}`);
        if (was && top !== was.top) seen.faults.push(`${id} moved from ${was.top} to ${top}`);
        if (was && text !== was.text) seen.drawn++;
        seen.before.set(id, { rank, text, top });
        order.push(id);
      }
      if (seen.order && seen.order !== order.join()) seen.faults.push("the order changed");
      seen.order = order.join();
      seen.samples++;
    };
    new MutationObserver(look).observe(document.querySelector("tbody"), {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
    });
    setInterval(look, 50);
  });
  const first = asked;
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, begin - Date.now())));
  const cuts = [12_000, 30_000, 48_000];
  for (const at of cuts) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, begin + at - Date.now())));
    down = true;
    for (const s of sockets) s.destroy();
    await p.getByText("Offline, reconnecting…").waitFor();
    await new Promise((resolve) => setTimeout(resolve, 3000));
    down = false;
    await send(company, ["34619999999"], { campaign_name: "live" }); // what is new waits above the list
  }
  await until(
    async () => (await Promise.all(ids.map((id) => find(company, id)))).every((n) => (n.counts.read ?? 0) === each),
    "all are read",
  );
  const ended = Date.now();
  await until(
    () => p.evaluate((total) => [...globalThis.seen.before.values()].every((x) => x.text === total + " read"), each),
    "the page shows it",
  );
  const behind = Date.now() - ended;
  const seen = await p.evaluate(() => ({
    faults: globalThis.seen.faults.slice(0, 10),
    drawn: globalThis.seen.drawn,
    samples: globalThis.seen.samples,
  }));
  const all = await Promise.all(ids.map((id) => find(company, id)));
  const times = all
    .flatMap((n) => n.recipients.flatMap((r) => [r.times.sent_at, r.times.delivered_at, r.times.read_at]))
    .map(Date.parse)
    .sort((a, b) => a - b);
  const span = (times.at(-1) - times[0]) / 1000;
  console.log(
    JSON.stringify({
      changes: times.length,
      seconds: span,
      a_second: Math.round(times.length / span),
      cuts: cuts.length,
      drawn: seen.drawn,
      samples: seen.samples,
      requests: asked - first,
      behind_ms: behind,
    }),
  );
  assert.deepEqual(seen.faults, []);
  await p.getByRole("button", { name: "3 new messages" }).waitFor();
  assert.equal(times.length, count * each * 3);
  await shot(p, "notifications-live-load");
});
