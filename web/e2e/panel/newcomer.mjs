// A newcomer in the demo: signs in, makes a key, writes a template, sees it approved, sends it to the sandbox phone, taps its button there, and
// sees the state of the message. Once by mouse in English, once by keyboard alone in Spanish.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { accessible, shot } from "../browser.mjs";
import { newCompany, stranger, until } from "../world.mjs";

let company;

const escaped = (s) => s.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** mouse moves to what has a role and name and presses it. */
function mouse(p) {
  let clicks = 0;
  const press = async (role, name, within = p) => {
    clicks++;
    const what = within.getByRole(role, { name, exact: typeof name === "string" }).first();
    await what.waitFor();
    await what.scrollIntoViewIfNeeded();
    await what.click();
  };
  return {
    press,
    clicks: () => clicks,
    write: async (name, text) => {
      await press("textbox", name);
      await p.keyboard.type(text);
    },
    go: (name) => press("link", name, p.getByRole("navigation", { name: "Navigation" })),
  };
}

/** keyboard goes to what has a role and name by Tab, or by the palette, and never touches anything otherwise. */
function keyboard(p) {
  // What the browser itself says of the focus: role and name as a screen reader reads them.
  const focused = async () => {
    const line = await p.evaluate(() => {
      const e = document.activeElement;
      const named = (x) => {
        const by = x.getAttribute("aria-labelledby");
        if (x.getAttribute("aria-label")) return x.getAttribute("aria-label");
        if (by)
          return by
            .split(" ")
            .map((id) => document.getElementById(id)?.textContent ?? "")
            .join(" ");
        if (x.labels?.length) return [...x.labels].map((l) => l.textContent).join(" ");
        return x.textContent;
      };
      const tag = e.tagName.toLowerCase();
      const role =
        e.getAttribute("role") ??
        (tag === "a"
          ? "link"
          : tag === "button" || tag === "summary"
            ? "button"
            : tag === "textarea"
              ? "textbox"
              : tag === "input"
                ? ({ checkbox: "checkbox", radio: "radio", search: "searchbox" }[e.type] ??
                  (e.getAttribute("aria-haspopup") ? "combobox" : "textbox"))
                : tag);
      const r = e.getBoundingClientRect();
      return {
        role,
        name: (named(e) ?? "").trim().replace(/\s+/g, " "),
        seen: r.width > 0 && r.bottom > 0 && r.top < innerHeight,
        outline: getComputedStyle(e).outlineStyle,
      };
    });
    return line;
  };
  let tabs = 0;
  const to = async (role, name, back = false) => {
    const fits = name instanceof RegExp ? name : new RegExp("^" + escaped(name) + "$");
    await p.getByRole(role, { name: fits }).first().waitFor(); // one sees where one goes
    for (let passed = []; ;) {
      const now = await focused();
      if (now.role === role && fits.test(now.name)) {
        assert.ok(now.seen, `the focus on ${name} is not seen`);
        return;
      }
      passed.push(`${now.role} ${now.name}`);
      if (passed.length > 80) assert.fail(`no way by Tab to ${role} ${name}: ${passed.join(" | ")}`);
      await p.keyboard.press(back ? "Shift+Tab" : "Tab");
      tabs++;
    }
  };
  return {
    to,
    focused,
    tabs: () => tabs,
    press: async (role, name, back) => {
      await to(role, name, back);
      await p.keyboard.press("Enter");
    },
    write: async (name, text) => {
      await to("textbox", name);
      await p.keyboard.type(text);
    },
    go: async (query) => {
      // by the palette, from anywhere
      await p.keyboard.press("Control+k");
      await p.waitForFunction(() => document.activeElement?.closest(".palette"));
      await p.keyboard.type(query);
      await p.waitForFunction(() => document.querySelector(".palette [data-action]"));
      await p.keyboard.press("Enter");
      await p.waitForFunction(
        () =>
          !document.querySelector(".palette") && document.getElementById("content")?.contains(document.activeElement),
      );
    },
  };
}

/** arrived waits for a page by its heading. */
const arrived = (p, name) => p.getByRole("heading", { name, level: 1, exact: true }).waitFor();

/** opened is the panel's first page for who comes to it. */
async function opened(t, locale) {
  const { p } = await stranger(t, { locale, viewport: { width: 1360, height: 900 } });
  await p.goto(company.panel_url);
  await p.locator('input[type="email"]').waitFor();
  return { p };
}

describe("a newcomer", () => {
  beforeEach(async () => {
    company = await newCompany();
  });

  it("comes from the sign-in to the timeline of a message with the mouse, in a few clicks", async (t) => {
    const { p } = await opened(t, "en-GB");
    const m = mouse(p);
    await m.write("E-mail", company.email);
    await p.locator('input[name="password"]').click();
    await p.keyboard.type(company.password);
    await m.press("button", "Sign in");

    await m.press("button", "Developers");
    await m.go("API keys");
    await m.press("button", "New key");
    await m.write("Label", "My application");
    await m.press("button", "New key", p.getByRole("dialog"));
    await m.press("button", "Copy key");
    await until(
      async () => (await p.evaluate(() => navigator.clipboard.readText())).startsWith("ck_"),
      "the key is copied",
    );
    await shot(p, "newcomer-en-key");
    await m.press("button", "Done");

    await m.go("Templates");
    await m.press("link", "New template");
    await m.write("Name", "welcome_aboard");
    await m.write("Text", "Welcome aboard, ");
    await m.press("button", "Variable");
    await p.keyboard.type("! Will you come on Monday?");
    await m.write("Sample for {{1}}", "Ana");
    await m.press("button", "Add button");
    await m.press("menuitem", /^Quick reply/);
    await p.keyboard.type("I will be there");
    await shot(p, "newcomer-en-template");
    await m.press("button", "Submit for approval");
    await p.getByRole("region", { name: "Status" }).getByText("Approved", { exact: true }).waitFor();
    await shot(p, "newcomer-en-approved");

    await m.press("link", "Send", p.getByRole("main"));
    await m.press("button", "Send to the test phone");
    await m.write("{{1}} · e.g. Ana", "Ana");
    await shot(p, "newcomer-en-send");
    await m.press("button", "Send");
    await p.getByRole("heading", { name: "To +34 600 701 234", exact: true }).waitFor();
    await shot(p, "newcomer-en-sent");
    await m.press("link", "Open test phone");
    const phone = p.getByRole("region", { name: /^Phone/ });
    await phone.getByText("Welcome aboard, Ana! Will you come on Monday?").waitFor();
    await m.press("button", "I will be there", phone);
    await p.locator('.handset-message[data-own="yes"]').getByText("I will be there").waitFor();
    await shot(p, "newcomer-en-phone");

    await m.go("Messages");
    await p
      .getByRole("link", { name: /welcome_aboard/ })
      .first()
      .click();
    await arrived(p, "welcome_aboard");
    await p.getByText("Read", { exact: true }).first().waitFor();
    await accessible(p, "the newcomer's message");
    await shot(p, "newcomer-en-timeline");
    t.diagnostic(`${m.clicks()} clicks`);
    assert.ok(m.clicks() < 40, `${m.clicks()} clicks`);
  });

  it("comes there by keyboard alone, in Spanish", async (t) => {
    const { p } = await opened(t, "es-ES");
    const k = keyboard(p);
    await p.waitForFunction(() => document.activeElement?.getAttribute("type") === "email");
    await p.keyboard.type(company.email);
    await p.keyboard.press("Tab");
    await p.keyboard.type(company.password);
    await p.keyboard.press("Enter");
    await p.locator("#content h1").waitFor();

    await k.go("claves");
    await arrived(p, "Claves de API");
    await k.press("button", "Nueva clave");
    await k.write("Etiqueta", "Mi aplicación");
    await p.keyboard.press("Enter");
    await p.getByRole("dialog", { name: "Su nueva clave" }).waitFor();
    await k.press("button", "Copiar la clave");
    await p.waitForFunction(async () => (await navigator.clipboard.readText()).startsWith("ck_"));
    await k.press("button", "Listo");
    await p.getByRole("dialog").waitFor({ state: "detached" });

    await k.go("plantillas");
    await arrived(p, "Plantillas");
    await k.press("link", "Nueva plantilla");
    await arrived(p, "Nueva plantilla");
    await k.write("Nombre", "bienvenida_a_bordo");
    await k.write("Texto", "Bienvenida a bordo, {{");
    await p.getByRole("option", { name: /\{\{1\}\}/ }).waitFor();
    await p.keyboard.press("Enter");
    await p.keyboard.type(". ¿Viene el lunes?");
    await k.write("Ejemplo de {{1}}", "Ana");
    await k.press("button", "Añadir botón");
    await p.getByRole("menuitem").first().waitFor();
    await p.keyboard.press("ArrowDown");
    assert.match((await k.focused()).name, /^Respuesta rápida/);
    await p.keyboard.press("Enter");
    await p.waitForFunction(() => document.activeElement?.closest(".templates-button"));
    await p.keyboard.type("Allí estaré");
    await shot(p, "newcomer-es-template");
    await p.keyboard.press("Control+Enter");
    await p.getByRole("region", { name: "Estado" }).getByText("Aprobada", { exact: true }).waitFor();
    await shot(p, "newcomer-es-approved");

    await k.press("link", "Enviar");
    await arrived(p, "Enviar");
    await k.press("button", "Enviar al teléfono de pruebas");
    await k.write(/^\{\{1\}\} · /, "Ana");
    await shot(p, "newcomer-es-send");
    await p.keyboard.press("Enter");
    await p.getByRole("heading", { name: "Para +34 600 701 234", exact: true }).waitFor();
    await k.press("link", "Abrir el teléfono de pruebas");
    await p.getByText("Bienvenida a bordo, Ana. ¿Viene el lunes?").first().waitFor();
    await k.press("button", "Allí estaré");
    await p.locator('.handset-message[data-own="yes"]').getByText("Allí estaré").waitFor();
    await shot(p, "newcomer-es-phone");

    await k.go("mensajes");
    await arrived(p, "Mensajes");
    await k.press("link", /bienvenida_a_bordo/);
    await arrived(p, "bienvenida_a_bordo");
    await p.getByText("Leído", { exact: true }).first().waitFor();
    await shot(p, "newcomer-es-timeline");
    t.diagnostic(`${k.tabs()} times Tab`);
    assert.ok(k.tabs() < 100, `${k.tabs()} times Tab`);
  });
});
