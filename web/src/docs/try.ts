// Operations tried from the page, against the program that serves it.
import { bearer, key, openKeys, Refused } from "./key";

/** tries makes the forms work. */
export function tries(): void {
  for (const form of document.querySelectorAll<HTMLFormElement>("form.try")) {
    form.hidden = false;
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      void send(form);
    });
  }
}

async function send(form: HTMLFormElement): Promise<void> {
  const result = form.querySelector<HTMLElement>(".result"),
    button = form.querySelector<HTMLButtonElement>("button[type=submit]");
  if (!result || !button) return;
  const say = (text: string) => {
    const p = document.createElement("p");
    p.className = "problem";
    p.textContent = text;
    result.replaceChildren(p);
  };
  if (form.dataset.credential === "key" && !key()) {
    say("Enter an API key first.");
    return openKeys();
  }
  const body = form.querySelector<HTMLTextAreaElement>("textarea[name=body]")?.value;
  if (body !== undefined && problemOf(body)) return say(`The body is not JSON: ${problemOf(body)}`);
  button.disabled = true;
  try {
    const { address, headers } = requestOf(form);
    if (form.dataset.credential === "key") {
      if (form.dataset.path === "/functions/v1/auth/company") headers.set("X-Access-Key", key());
      else headers.set("Authorization", "Bearer " + (await bearer()));
    }
    const began = performance.now();
    const r = await fetch(address, {
      method: form.dataset.method,
      headers,
      body,
      credentials: "omit",
      redirect: "manual",
    });
    const text = await r.text();
    show(result, r, text, Math.round(performance.now() - began));
  } catch (e) {
    say(
      e instanceof Refused
        ? `${e.message}. Choose another key.`
        : "No response. Check that Carillon is running and that you're online.",
    );
  } finally {
    button.disabled = false;
  }
}

/** problemOf is why a text is not JSON; empty where it is. */
export function problemOf(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (e) {
    return e instanceof Error ? e.message : String(e);
  }
}

/** requestOf is the address and the headers that the fields of a form say. */
export function requestOf(form: HTMLFormElement): { address: string; headers: Headers } {
  let path = form.dataset.path ?? "";
  const query = new URLSearchParams(),
    headers = new Headers();
  for (const field of form.querySelectorAll<HTMLInputElement | HTMLSelectElement>("[data-in]")) {
    if (field.value === "") continue;
    if (field.dataset.in === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(field.value));
    else if (field.dataset.in === "query") query.set(field.name, field.value);
    else headers.set(field.name, field.value);
  }
  const token = form.querySelector<HTMLInputElement>("[data-token]")?.value.trim();
  if (token) headers.set("Authorization", "Bearer " + token);
  if (form.querySelector("textarea[name=body]")) headers.set("Content-Type", "application/json");
  const q = query.toString();
  return { address: path + (q ? "?" + q : ""), headers };
}

function show(result: HTMLElement, r: Response, text: string, took: number): void {
  const line = document.createElement("p"),
    status = document.createElement("span"),
    rest = document.createElement("span"),
    pre = document.createElement("pre"),
    code = document.createElement("code");
  status.className = r.ok ? "status ok" : "status";
  status.textContent = String(r.status);
  rest.className = "quiet";
  rest.textContent = ` ${took} ms · ${r.headers.get("X-Request-Id") ?? ""}`;
  line.append(status, rest);
  pre.tabIndex = 0;
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    /* it is no JSON */
  }
  code.textContent = shown.length > 100_000 ? shown.slice(0, 100_000) + "\n…" : shown;
  pre.append(code);
  result.replaceChildren(line, ...(text ? [pre] : []));
}
