// What an entry runs in: the program with the demo, companies of its own in it, one browser. e2e/browser makes what is asked for.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { readdir } from "node:fs/promises";
import { context, launch, ready } from "./browser.mjs";

/** browser is the one of an entry. */
export let browser;

/** tryParts has an entry try the parts in the folder of its name, or of them the one that PAGES names, in a browser with more arguments. */
export async function tryParts(entry, ...more) {
  withBrowser(...more);
  const parts = (await readdir(new URL(entry + "/", import.meta.url)))
    .filter((name) => name.endsWith(".mjs"))
    .map((name) => name.slice(0, -4));
  const only = process.env.PAGES;
  const tried = parts.filter((part) => part === only || !parts.includes(only)).sort();
  // As one module, so that no test begins before the last part is there.
  await import(
    "data:text/javascript," +
      encodeURIComponent(
        tried.map((part) => `import ${JSON.stringify(new URL(`${entry}/${part}.mjs`, import.meta.url))};`).join("\n"),
      )
  );
}

/** withBrowser has the tests of a file share a browser. */
export function withBrowser(...more) {
  before(async () => {
    browser = await launch(...more);
  });
  after(() =>
    browser.close().catch((error) => {
      console.error(error);
      throw error;
    }),
  ); // Node says nothing of a file's hooks
}

/** ask has e2e/browser make something: "empty", "several", "speech", "trunk", "graph", "embeddings", "signup", "code". */
export async function ask(what) {
  const r = await fetch(`${process.env.CARILLON_WORLD}/${what}`, { method: "POST" });
  assert.ok(r.ok, `${what}: ${r.status}`);
  return r.json();
}

/** newCompany makes a company with all that the demo's has, known by what the ready file says of that one, and its owner's token. */
export async function newCompany() {
  return withToken(await ask("company"));
}

/** bareCompany makes one with an owner and nothing else. */
export async function bareCompany() {
  return withToken(await ask("company?bare"));
}

const withToken = async (company) => ({ ...company, token: await signIn(company) });

/** direct is the address of a program for this process, which resolves no names. */
export const direct = (base = ready.base_url) => base.replace(/\/\/[a-z]+\.localhost/, "//127.0.0.1");

/** call asks an interface of the program as a script would. */
export async function call(method, path, token, body) {
  const r = await fetch(direct() + path, {
    method,
    headers: {
      ...(body && { "Content-Type": "application/json" }),
      ...(token && { Authorization: "Bearer " + token }),
    },
    body: body && JSON.stringify(body),
  });
  const text = await r.text();
  assert.ok(r.ok, `${method} ${path}: ${r.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}

export async function signIn({ email, password }) {
  return (await call("POST", "/functions/v1/auth?grant_type=password", "", { email, password })).access_token;
}

const password = "a-long-enough-password";

/** member adds somebody to a company. */
export async function member(company, name, role) {
  const who = { email: `${name.toLowerCase()}@${company.email.split("@")[1]}`, password };
  await call("POST", "/panel/v1/users", company.token, { ...who, name, role });
  return { ...who, name };
}

/** sessions are those of people who have signed in, by their e-mail addresses. */
const sessions = new Map();

/** signedIn is what a browser keeps of somebody's session. */
async function signedIn({ email, password }) {
  if (!sessions.has(email)) {
    const r = await fetch(direct() + "/panel/v1/session", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Carillon-Panel": "1" },
      body: JSON.stringify({ email, password }),
    });
    assert.ok(r.ok, `sign ${email} in: ${r.status}`);
    const [, value] = /carillon_session=([^;]+)/.exec(r.headers.get("set-cookie"));
    sessions.set(email, {
      cookies: [
        {
          name: "carillon_session",
          value,
          domain: "panel.localhost",
          path: "/panel",
          expires: -1,
          httpOnly: true,
          secure: false,
          sameSite: "Strict",
        },
      ],
      origins: [],
    });
  }
  return sessions.get(email);
}

/** stranger is a browser in which nobody has signed in, with an empty page. */
export async function stranger(t, options = {}) {
  const c = await context(browser, {
    locale: "en-GB",
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
    ...options,
  });
  t.after(async () => {
    c.check();
    await c.close();
  });
  return { c, p: await c.newPage() };
}

/** fillIn signs somebody in by the form that a page shows. */
export async function fillIn(p, { email, password }) {
  await p.locator('input[name="email"]').fill(email);
  await p.locator('input[name="password"]').fill(password);
  await p.keyboard.press("Enter");
}

/** open is a page of the panel for somebody of a company, who is signed in: its owner, if nobody is named. clock: the test says what time it is. */
export async function open(t, company, path = "/", { clock = false, ...options } = {}, who = company) {
  const c = await context(browser, {
    locale: "en-GB",
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
    storageState: await signedIn(who),
    ...options,
  });
  t.after(async () => {
    c.check();
    await c.close();
  });
  const p = await c.newPage();
  if (clock) await p.clock.install();
  await p.goto(company.panel_url + (path === "/" ? "" : path));
  await p.locator("#content h1, #content h2").first().waitFor({ state: "attached" });
  return p;
}

/** until waits for a state that nothing announces. */
export async function until(condition, what = String(condition)) {
  for (const end = Date.now() + 120_000; ; await new Promise((resolve) => setTimeout(resolve, 40))) {
    const found = await condition();
    if (found) return found;
    assert.ok(Date.now() < end, "hangs: " + what);
  }
}
