// What the tests of sent notifications have in common with the measurement of their list.
import assert from "node:assert/strict";
import { context, ready } from "./browser.mjs";

const server = ready.base_url.replace(/\/\/[a-z]+\.localhost/, "//127.0.0.1");
export async function request(method, path, body, token) {
  const r = await fetch(server + path, { method, headers: { ...(body && { "Content-Type": "application/json" }), ...(token && { Authorization: "Bearer " + token }) }, body: body && JSON.stringify(body) });
  assert.ok(r.ok, `${method} ${path}: ${r.status} ${r.ok ? "" : await r.text()}`);
  return r.json();
}
export const withKey = (path) => path + (path.includes("?") ? "&" : "?") + "access_key=" + ready.access_key;

/** send sends a template of the demo to numbers of the sandbox, whose last digits say what becomes of it. */
export async function send(numbers, more = {}) {
  const contacts = numbers.map((number, i) => ({ number, name: ["Ana", "Bea", "Carla", "Duarte", "Eva"][Math.min(i, 4)] + " " + Math.min(i, 4) }));
  const r = await request("POST", withKey("/functions/v1/notify"), {
    ...(contacts.length === 1 ? { contact: contacts[0] } : { contacts }), language_template: "en", name_template: "hello", recipient_id: "demo", notification_type: "utility", campaign_name: "tours",
    components_push: { body_text_0: "{{name}}" }, ...more,
  });
  return r.notification_id;
}
export const find = (id) => request("GET", withKey("/functions/v1/notify/" + id + "?limit=100"));

export async function open(browser, t, path, options = {}, who = { email: ready.email, password: ready.password }) {
  const { clock = false, ...rest } = options; // clock: the test says what time it is in the page
  const c = await context(browser, { locale: "en-GB", viewport: { width: 1440, height: 900 }, permissions: ["clipboard-read", "clipboard-write"], ...rest });
  t.after(async () => { c.check(); await c.close(); });
  const p = await c.newPage();
  if (clock) await p.clock.install();
  await p.goto(ready.panel_url + path);
  await p.locator("input").nth(0).fill(who.email);
  await p.locator("input").nth(1).fill(who.password);
  await p.keyboard.press("Enter");
  await p.locator(".page h1").waitFor();
  return p;
}
export const row = (p, id) => p.locator(`tr[data-id="${id}"]`);
