import { languageName } from "../../format";

/** codes are the languages that WhatsApp has templates in. */
export const codes = (
  "af sq ar az bn bg ca zh_CN zh_HK zh_TW hr cs da nl en en_GB en_US et fil fi fr ka de el gu ha he hi hu id ga it ja kn kk rw_RW ko ky_KG lo lv lt mk ms ml mr nb fa pl pt_BR pt_PT pa ro ru sr sk sl " +
  "es es_AR es_ES es_MX sw sv ta te th tr uk ur uz vi zu"
).split(" ");

/** choices are the languages by their names in the language of the page, with one that is chosen already. */
export function choices(language: string, chosen: string): { value: string; label: string }[] {
  const all = codes.includes(chosen) || chosen === "" ? codes : [...codes, chosen];
  return all
    .map((value) => ({ value, label: `${languageName(value.replace("_", "-"), language)} · ${value}` }))
    .sort((a, b) => a.label.localeCompare(b.label, language));
}

export const usual: Record<string, string> = { en: "en", es: "es_ES", pt: "pt_PT" };
