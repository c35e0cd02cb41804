/// <reference types="vite/client" />
import { expect, test } from "vitest";
import { languages as chat } from "../chat/texts";
import { languages as voice } from "../voice/texts";

type Value = string | readonly Value[] | { readonly [key: string]: Value };

/** flat yields the texts of a value with their keys. */
function* flat(key: string, value: Value): Generator<[key: string, text: string]> {
  if (typeof value === "string") yield [key, value];
  else for (const [name, inner] of Object.entries(value)) yield* flat(`${key}.${name}`, inner);
}

/** texts holds all texts of the panel and the widgets by language and key. */
const texts = { en: new Map<string, string>(), es: new Map<string, string>(), pt: new Map<string, string>() };
type Language = keyof typeof texts;

const files = import.meta.glob<Record<string, Value>>("./**/texts/{en,es,pt}.ts", { eager: true });
for (const [path, file] of Object.entries(files)) {
  const [, area, language] = /^\.\/(.*)\/texts\/(\w+)\.ts$/.exec(path)!;
  for (const [key, text] of flat(area!, file)) texts[language as Language].set(key, text);
}
for (const [widget, languages] of Object.entries({ chat, voice }))
  for (const language of Object.keys(texts) as Language[])
    for (const [key, text] of flat(widget, languages[language]!)) texts[language].set(key, text);

/** The wordings that no text has, with the ones that replace them (docs/glossary.md). */
const forbidden: Record<Language, [wording: RegExp, instead: string][]> = {
  en: [
    [/\b(what|whatever) (becomes|became|has become) of\b/i, "status"],
    [/\bfinds? out\b|\bfound out\b/i, "answers"],
    [/\bwhoever\b|\b(some|any|every|no)body\b/i, "someone, anyone, everyone, no one"],
    [/\bany more[.,]/i, "anymore"],
    [/\bone a line\b/i, "one per line"],
    [/\bleft out\b/i, "skipped"],
    [/\bsecond factors?\b/i, "two-factor authentication"],
    [/(^|[.!?] )Empty:/, "Optional. Defaults to …"],
    [/\bthe interface\b/i, "the API"],
    [/\baccess keys?\b/i, "API key"],
    [/^It (is|was|can be|leaves|took)\b/, "the noun"],
    [
      /\bhas to be\b|\bmend(ed)?\b|\bput right\b|\bgone on with\b|\bby (itself|themselves)\b/i,
      "must, fix, resume, automatically",
    ],
    [/\bof (yours|its own|their own|your own)\b/i, "your, its"],
    [/\bgood for \w+ (minutes?|hours?|days?)\b|\bno longer good\b/i, "valid for"],
    [/\b(cannot|(do|does|did|is|are|was|were|will|would|could|has|have|had|must|should) not)\b/i, "a contraction"],
    [/\btelephones?\b/i, "phone"],
    [/\bat once\b/i, "now"],
    [/\bno such\b/i, "… not found"],
    [/(?<!\{)\b(colour|behaviour|recognise|organise|dialled|cancelled|centre)/i, "American spelling"],
    [/^(Add|Create|Make|Write) (a|an|the first|your first) \w+$/, "New …"],
    [/\bset-up\b/i, "setup"],
    [/’/, "'"],
  ],
  es: [
    [/\b(tú|tu|tus|contigo|puedes|tienes|quieres|vosotros)\b/i, "usted"],
    [/\bsupresi(ón|ones)\b|\bsuprimid[oa]s?\b|\bexclusi(ón|ones)\b/i, "baja"],
    [/\bpetici(ón|ones)\b/i, "solicitud"],
    [/\b(solo|letras,|minúsculas,) cifras\b/i, "dígitos"],
    [/\b(quit|borr)(ar|ad[oa]s?|e|en)\b|\bqu[ií]tel[oa]s?\b|\bb[oó]rrel[oa]s?\b/i, "eliminar"],
    [/\b(segundo|doble) factor\b/i, "verificación en dos pasos"],
    [/\bcódigo del país\b/i, "código de país"],
    [/\bviva voz\b/i, "por voz"],
    [/\bclaves? de acceso\b/i, "clave de API"],
    [/\bpalabras del canal\b/i, "mensaje de WhatsApp"],
    [/(^|[.] )Vac[ií][oa]:/, "Opcional. Por defecto, …"],
    [/\bprefijo (del|de) país\b/i, "código de país"],
    [/[“”’]/, "«»"],
  ],
  pt: [
    [
      /\b(telemóvel|utilizador(es)?|ecrã|ficheiros?|registado|contacto|aceder|equipa|partilhar|hífenes|aspeto)\b/i,
      "pt-BR",
    ],
    [/\b(enviar na mesma|viva voz|vezes sem conta|indicativo|em baixo|para si|convida-o)\b/i, "pt-BR"],
    [
      /\b(juntar|junte|guardar|transferir gravação|gravar alterações|terminar (todas|as))\b/i,
      "adicionar, salvar, baixar, encerrar",
    ],
    [/\bpedidos? (de envio|aceitos|guardados|são|à API)\b/i, "requisição"],
    [/\baplicaç(ão|ões)\b/i, "aplicativo, sistema"],
    [/\bpapel\b/i, "função"],
    [/\bguardad[oa]s?\b/i, "salvar, manter"],
    [/\b(segundo fator|dois fatores)\b/i, "verificação em duas etapas"],
    [/\bo[nf]f?-line\b/i, "online, offline"],
    [/\b(fazer|receber|atender|gravar) (uma )?chamadas?\b|\bchamadas? (telefônicas?|de teste|recebidas)\b/i, "ligação"],
    [/\bsuprimid[oa]s?\b|\bsupress(ão|ões)\b|\bexclusões\b/i, "descadastro"],
    [/\bchaves? de acesso\b/i, "chave de API"],
    [/\bAjustes?\b/, "Configurações"],
    [/(^|[.] )Vazi[oa]:/, "Opcional. Por padrão, …"],
    [/’/, "'"],
  ],
};

test.each(Object.keys(texts) as Language[])("no text in %s has a forbidden wording", (language) => {
  const found: string[] = [];
  for (const [key, text] of texts[language])
    for (const [wording, instead] of forbidden[language])
      if (wording.test(text)) found.push(`${key}: ${text} (${wording.exec(text)![0]} → ${instead})`);
  expect(texts[language].size).toBeGreaterThan(2000);
  expect(found).toEqual([]);
});

test("the languages have the same keys and placeholders", () => {
  const places = (text: string) => (text.match(/\{+[^{}]+\}+/g) ?? []).filter((p) => !p.includes('"')).sort();
  for (const language of ["es", "pt"] as const) {
    expect([...texts[language].keys()].sort()).toEqual([...texts.en.keys()].sort());
    const differ = [...texts.en].filter(
      ([key, text]) => places(text).join() !== places(texts[language].get(key)!).join(),
    );
    expect(differ).toEqual([]);
  }
});

test("a help text has at most 140 characters", () => {
  const help = /(\.about|\.help|Help|About|Note|Hint)$/;
  const long: string[] = [];
  for (const [language, all] of Object.entries(texts))
    for (const [key, text] of all)
      if (help.test(key) && text.length > 140) long.push(`${language} ${key}: ${text.length}`);
  expect(long).toEqual([]);
});
