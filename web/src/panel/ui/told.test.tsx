import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { setLanguage, textsLoaded, type Language } from "../i18n";
import forms from "./sentences.json";
import { sentences } from "./texts";
import { Told, told } from "./Told";

it.each(["en", "es", "pt"] as Language[])("has a text for each sentence in %s, with values of its forms", async (l) => {
  await textsLoaded();
  await setLanguage(l);
  const placesIn = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]!);
  expect(Object.keys(sentences.now).sort()).toEqual(forms.map((s) => s.name).sort());
  for (const s of forms)
    for (const form of s.forms) {
      const text = (sentences.now as Record<string, string>)[s.name]!;
      for (const place of placesIn(text)) expect(placesIn(form), s.name).toContain(place);
      expect(told(form), form).toBe(text);
    }
  await setLanguage("en");
});

it("shows a stored sentence in the language of the page, and marks an unknown one as English", async () => {
  await setLanguage("es");
  expect(told("Its host hooks.example.com does not exist: check the address")).toBe(
    "El servidor hooks.example.com no existe. Compruebe la dirección",
  );
  expect(told("The engine failed: the server was silent for too long")).toBe(
    "El motor falló: el servidor tardó demasiado en responder",
  );
  expect(told("O agente não soube responder.")).toBe("El agente no supo responder.");
  expect(renderToStaticMarkup(<Told text="(#100) Invalid parameter" />)).toBe(
    '<span lang="en">(#100) Invalid parameter</span>',
  );
  await setLanguage("en");
});
