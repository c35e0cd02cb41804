// The viewer's own access key: in the memory of this page alone. Whoever is signed in to the panel sees the company's keys, as the panel
// shows them, and may create one for an hour.
interface Key {
  id: string;
  label: string;
  prefix: string;
  scopes: string[];
  is_active: boolean;
}
interface Company {
  id: string;
  name: string;
  permissions: string[];
  suspended: boolean;
}

let held = "";
let token: { value: string; until: number; key: string } | undefined;

/** key is what the viewer gave; empty without one. */
export function key(): string {
  return held;
}

/** Refused is the interface's response to the key. */
export class Refused extends Error {}

/** bearer exchanges the key for a company token, so that no address has the key in it. */
export async function bearer(): Promise<string> {
  if (token && token.key === held && token.until > Date.now()) return token.value;
  const r = await fetch("/functions/v1/auth/company", {
    method: "POST",
    headers: { "X-Access-Key": held },
    credentials: "omit",
  });
  const body = (await r.json()) as { access_token?: string; expires_in?: number; message?: string };
  if (!r.ok || !body.access_token) throw new Refused(body.message ?? "The key was refused");
  token = { value: body.access_token, until: Date.now() + ((body.expires_in ?? 60) - 30) * 1000, key: held };
  return token.value;
}

function hold(value: string): void {
  held = value;
  token = undefined;
  for (const x of document.querySelectorAll<HTMLElement>(".key")) x.textContent = held || (x.dataset.shown ?? "");
  const name = document.getElementById("key-name");
  if (name) name.textContent = held ? held.slice(0, 8) + "…" : "API key";
  document.getElementById("key")?.classList.toggle("set", held !== "");
}

/** keys makes the dialog work. */
export function keys(): void {
  const button = document.getElementById("key"),
    dialog = document.getElementById("key-dialog") as HTMLDialogElement | null;
  const input = document.getElementById("key-input") as HTMLInputElement | null,
    problem = document.getElementById("key-problem");
  if (!button || !dialog || !input || !problem) return;
  const forget = document.getElementById("key-forget"),
    cancel = document.getElementById("key-cancel");
  if (!forget || !cancel) return;
  forget.addEventListener("click", () => {
    hold("");
    dialog.close();
  });
  cancel.addEventListener("click", () => dialog.close());
  button.hidden = false;
  button.addEventListener("click", () => {
    input.value = held;
    problem.textContent = "";
    forget.hidden = held === "";
    dialog.showModal();
    void list(dialog, input);
  });
  dialog.addEventListener("submit", (e) => {
    const value = input.value.trim();
    if (/^[\w.-]{8,200}$/.test(value)) return hold(value);
    e.preventDefault();
    problem.textContent = value
      ? "An API key has at least eight letters, digits and underscores, and no spaces."
      : "Paste a key first.";
    input.focus();
  });
  dialog.addEventListener("close", () => {
    input.value = "";
  });
}

/** openKeys asks for a key. */
export function openKeys(): void {
  document.getElementById("key")?.click();
}

async function list(dialog: HTMLDialogElement, input: HTMLInputElement): Promise<void> {
  const place = document.getElementById("key-list");
  if (!place) return;
  const r = await fetch("/panel/v1/session").catch(() => undefined);
  if (!r?.ok) {
    place.replaceChildren(paragraph("Sign in to the panel in this browser to see your company's keys here."));
    return;
  }
  const { companies } = (await r.json()) as { companies: Company[] };
  const readable = companies.filter((c) => !c.suspended && c.permissions.includes("keys:read"));
  const parts = await Promise.all(readable.map((c) => company(c, dialog, input)));
  place.replaceChildren(...parts.flat());
}

async function company(c: Company, dialog: HTMLDialogElement, input: HTMLInputElement): Promise<HTMLElement[]> {
  const title = document.createElement("h3");
  title.textContent = `Keys of ${c.name}`;
  const r = await fetch(`/panel/v1/keys?limit=100&company=${encodeURIComponent(c.id)}`).catch(() => undefined);
  if (!r?.ok) return [title, paragraph("The keys couldn't be loaded.")];
  const { data } = (await r.json()) as { data: Key[] };
  const rows = document.createElement("ul");
  rows.className = "keys";
  for (const k of data.filter((x) => x.is_active)) {
    const row = document.createElement("li"),
      pick = document.createElement("button"),
      scopes = document.createElement("span");
    pick.type = "button";
    pick.className = "button";
    pick.textContent = `${k.label} · ${k.prefix}…`;
    scopes.className = "quiet";
    scopes.textContent = k.scopes.includes("*") ? "everything" : k.scopes.join(", ");
    pick.addEventListener("click", () => {
      input.placeholder = k.prefix + "…";
      input.focus();
      const problem = document.getElementById("key-problem");
      if (problem)
        problem.textContent = `A key is shown once, when it is created. Paste the one that begins with ${k.prefix}.`;
    });
    row.append(pick, scopes);
    rows.append(row);
  }
  const out = [title, rows.childElementCount > 0 ? rows : paragraph("No active keys.")];
  if (c.permissions.includes("keys:write")) out.push(createButton(c, dialog));
  return out;
}

function createButton(c: Company, dialog: HTMLDialogElement): HTMLElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button";
  button.textContent = "New key for one hour";
  button.addEventListener("click", () => {
    button.disabled = true;
    void create(c).then(
      (made) => {
        hold(made);
        dialog.close();
      },
      (e: unknown) => {
        button.disabled = false;
        const problem = document.getElementById("key-problem");
        if (problem) problem.textContent = e instanceof Error ? e.message : String(e);
      },
    );
  });
  return button;
}

async function create(c: Company): Promise<string> {
  const expires = new Date(Date.now() + 3_600_000).toISOString().slice(0, 19) + "Z";
  const r = await fetch(`/panel/v1/keys?company=${encodeURIComponent(c.id)}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Carillon-Panel": "1" },
    body: JSON.stringify({ label: "Documentation, one hour", scopes: ["*"], expires_at: expires }),
  });
  const body = (await r.json()) as { key?: string; message?: string };
  if (!r.ok || !body.key) throw new Error(body.message ?? "The key couldn't be created.");
  return body.key;
}

function paragraph(text: string): HTMLElement {
  const p = document.createElement("p");
  p.className = "quiet";
  p.textContent = text;
  return p;
}
