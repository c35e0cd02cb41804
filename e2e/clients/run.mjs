// Runs scenarios.json with @carillon/client: BASE is the proxy, FACTS who calls.
import { createHmac, randomFillSync, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { CarillonClient, CarillonError, Unreachable, verifyWebhook, WebhookError } from "../../clients/typescript/dist/index.js";

const base = process.env.BASE, facts = JSON.parse(process.env.FACTS);
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", otherSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

const callers = {
  key: { key: facts.key }, query: { key: facts.key, keyInQuery: true }, readKey: { key: facts.readKey }, badKey: { key: "ck_" + "x".repeat(43) },
  user: { email: facts.email, password: facts.password }, badUser: { email: facts.email, password: "not the password" },
};

async function collect(rows) { const all = []; for await (const row of rows) all.push(row); return all; }

/** load loads an address without the client. */
async function load(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return { body: Buffer.from(await response.arrayBuffer()), type: response.headers.get("Content-Type") };
}

const member = (group, name) => (c, args) => c[group][name](...args);

// The client's methods have the names of the table, but for these.
const operations = {
  templates: member("templates", "list"), template: member("templates", "get"), findTemplate: member("templates", "find"), createTemplate: member("templates", "create"), editTemplate: member("templates", "edit"),
  submitTemplate: member("templates", "submit"), deleteTemplate: member("templates", "delete"), suppress: member("suppressions", "add"), unsuppress: member("suppressions", "remove"),
  me: member("users", "me"), accessKeys: member("users", "accessKeys"), signOut: member("users", "signOut"), pullEvents: member("events", "pull"),
  addWebhook: member("webhooks", "add"), webhook: member("webhooks", "get"), replaceWebhook: member("webhooks", "replace"), deleteWebhook: member("webhooks", "delete"), webhookStatus: member("webhooks", "status"),
  testWebhook: member("webhooks", "test"), rotateSecret: member("webhooks", "rotateSecret"), enableWebhook: member("webhooks", "enable"), replay: member("webhooks", "replay"),
  send: (c, [message, idempotencyKey], o) => c.send(message, { ...o, ...(idempotencyKey && { idempotencyKey }) }),
  answer: (c, [message, idempotencyKey], o) => c.answer(message, { ...o, ...(idempotencyKey && { idempotencyKey }) }),
  markRead: (c, [id], o) => c.markRead(id, true, o),
  notifications: (c, [filter], o) => collect(c.notifications(filter, o)),
  suppressions: (c) => collect(c.suppressions.list()),
  webhooks: (c) => collect(c.webhooks.list()),
  deliveries: (c, args) => collect(c.webhooks.deliveries(...args)),
  endCall: (c, [id]) => c.hangUp(id).catch((e) => { if (e.code !== "conflict") throw e; }), // it is over
  async recording(c, [id, key]) {
    const got = Buffer.from(await c.recording(id)), want = await load(`${base}/functions/v1/calls/${id}/recording?access_key=${key}`);
    return { type: got.toString("latin1", 0, 4), long: got.length > 10_000, same: got.equals(want.body) };
  },
  async upload(c, [name, begin, size]) {
    const file = randomFillSync(Buffer.alloc(size));
    file.write(begin, "latin1");
    const kept = await c.upload(name, new Blob([file]));
    const got = await load(base + new URL(kept.url).pathname + new URL(kept.url).search);
    return { ...kept, same: got.body.equals(file), loaded: got.type };
  },
  async firstEvent(c, [from, id]) { for await (const { event } of c.events.follow(from)) if (event.data.notification_id === id) return event; },
  async verify(c, [{ signed, secrets, body, id, age = 0, shift = 0 }]) {
    const sent = '{"id":"evt_1","type":"message.delivered","timestamp":"2026-11-24T09:30:00Z","version":1,"sequence":87,"data":{"previous_status":"sent","status":"delivered"}}';
    const at = Math.floor(Date.now() / 1000) - age;
    const signatures = signed.map((s) => "v1," + createHmac("sha256", Buffer.from(s.slice(6), "base64")).update(`evt_1.${at}.${sent}`).digest("base64"));
    const headers = { "webhook-id": id ?? "evt_1", "Webhook-Timestamp": String(at + shift), "webhook-signature": signatures.join(" ") };
    await verifyWebhook(new Headers(headers), body ?? sent, ...secrets); // headers come in both forms
    return verifyWebhook(headers, new TextEncoder().encode(body ?? sent), ...secrets);
  },
};

function variables() {
  const id = randomUUID(), run = "ts " + id;
  const message = (contact) => ({ ...contact, name_template: "hello", language_template: "en", recipient_id: "demo", notification_type: "utility", campaign_name: run, components_push: { body_text_0: "{{name}}" } });
  const contact = { contact: { number: "34600111222", name: "Ana" } };
  return {
    run, word: id.replaceAll("-", "_"), number: "34698" + String(Date.now() % 1e7), hello: message(contact), large: { ...message(contact), components_push: { body_text_0: "x".repeat(1 << 20) } },
    hundred: message({ contacts: Array.from({ length: 100 }, (_, i) => ({ number: "346001" + String(10000 + i * 10).padStart(5, "0"), name: "Ana" })) }), hook: base + "/_hook", key: facts.key, recorded: facts.recorded, secret, otherSecret, agent: facts.agent,
  };
}

function fill(v, vars) {
  if (typeof v === "string") return v.startsWith("$") && v.slice(1) in vars ? vars[v.slice(1)] : v.replace(/\$(\w+)/g, (whole, name) => vars[name] ?? whole);
  if (Array.isArray(v)) return v.map((x) => fill(x, vars));
  if (v && typeof v === "object") return Object.fromEntries(Object.entries(v).map(([name, x]) => [name, fill(x, vars)]));
  return v;
}

function differs(where, want, got) {
  if (typeof want === "string" && want.startsWith("~")) { if (!new RegExp(want.slice(1)).test(String(got ?? ""))) throw new Error(`${where} is ${JSON.stringify(got)}, want ${want}`); return; }
  if (Array.isArray(want)) {
    if (!Array.isArray(got) || got.length < want.length || want.length === 0 && got.length > 0) throw new Error(`${where} is ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
    want.forEach((x, i) => differs(`${where}[${i}]`, x, got[i]));
  } else if (want && typeof want === "object") {
    if (!got || typeof got !== "object") throw new Error(`${where} is ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
    for (const [name, x] of Object.entries(want)) differs(`${where}.${name}`, x, got[name]);
  } else if ((got ?? null) !== want) throw new Error(`${where} is ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
}

const at = (v, path) => path.split(".").reduce((x, name) => x?.[name], v);

function lengths(want, got) {
  if (typeof want === "number" && got?.length !== want) throw new Error(`${got?.length} rows, want ${want}: ${JSON.stringify(got)}`);
  if (want && typeof want === "object") for (const [name, n] of Object.entries(want)) lengths(n, got[name]);
}

function describe(e) {
  if (e instanceof CarillonError) return { code: e.code, status: e.status, details: e.details, retry_after: e.retryAfter };
  if (e instanceof Unreachable) return { unreachable: true };
  if (e instanceof WebhookError) return { webhook: e.kind };
  return e?.name === "TimeoutError" || e?.name === "AbortError" ? { canceled: true } : { other: true, text: String(e) };
}

async function once(c, step, args, vars) {
  const o = step.within ? { signal: AbortSignal.timeout(step.within) } : {};
  const operation = operations[step.do] ?? ((client, all, options) => client[step.do](...all, ...(step.within ? [options] : [])));
  let got;
  try { got = await operation(c, args, o); } catch (e) {
    if (!step.error) throw e;
    differs("error", fill(step.error, vars), describe(e));
    return;
  }
  if (step.error) throw new Error("no error, but " + JSON.stringify(got));
  if (step.want !== undefined) differs("result", fill(step.want, vars), got);
  if (step.has && !got.some((row) => { try { differs("", fill(step.has, vars), row); return true; } catch { return false; } })) throw new Error(`no row is ${JSON.stringify(step.has)}: ${JSON.stringify(got)}`);
  lengths(step.length, got);
  for (const [name, path] of Object.entries(step.save ?? {})) vars[name] = at(got, path);
}

async function run(x) {
  await fetch(base + "/_next", { method: "POST", body: JSON.stringify(x.faults ?? []) });
  const pauses = [];
  const c = new CarillonClient(base, { ...callers[x.as ?? "key"], pause: async (ms) => { pauses.push(ms); } });
  const vars = variables();
  for (const [i, step] of x.steps.entries()) {
    const args = fill(step.args ?? [], vars);
    for (const end = Date.now() + 30_000; ;) {
      try { await once(c, step, args, vars); break; } catch (e) {
        if (!step.until || Date.now() > end) throw new Error(`step ${i + 1}, ${step.do}: ${e.message}`, { cause: e });
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }
  const seen = await (await fetch(base + "/_seen")).json();
  const is = (r, pattern) => {
    const [method, path] = pattern.split(" ");
    const want = path.split("/"), got = r.path.split("/");
    return r.method === method && want.length === got.length && want.every((part, i) => part === "*" || part === got[i]);
  };
  for (const [pattern, want] of Object.entries(x.seen ?? {})) {
    const got = seen.filter((r) => pattern === "address" ? r.address : is(r, pattern)).length;
    if (got !== want) throw new Error(`${got} requests of ${pattern}, want ${want}: ${JSON.stringify(seen)}`);
  }
  if (x.pauses && (pauses.length !== x.pauses.length || pauses.some((ms, i) => Math.floor(ms) < x.pauses[i][0] || Math.floor(ms) > x.pauses[i][1]))) {
    throw new Error(`paused ${JSON.stringify(pauses)}, want ${JSON.stringify(x.pauses)} ms`);
  }
}

let failed = 0;
for (const x of JSON.parse(readFileSync(new URL("scenarios.json", import.meta.url), "utf8")).slice(1)) {
  if (x.needs && x.needs !== facts.programs) continue;
  try { await run(x); } catch (e) {
    failed++;
    console.log(`FAIL ${x.name}: ${e.message}`);
  }
}
process.exit(failed ? 1 : 0);
