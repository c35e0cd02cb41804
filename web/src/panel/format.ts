// Times, numbers and names as people read them.

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** abbreviated are the units whose short form reads well in each language: "7 min", but "3 months". */
const abbreviated = new Set<Intl.RelativeTimeFormatUnit>(["week", "hour", "minute"]);

/** relative is how far an instant is from now, such as "3 min ago": short, so that it fits a column of a list. */
export function relative(at: string, language: string, now = Date.now()): string {
  const seconds = (new Date(at).getTime() - now) / 1000;
  const [unit, length] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? (["second", Infinity] as const);
  const style = abbreviated.has(unit) ? "short" : "long";
  const f = new Intl.RelativeTimeFormat(language, { numeric: "auto", style });
  return f.format(Math.round(seconds / length), unit).replace(".", "");
}

export function absolute(at: string, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(new Date(at));
}

export function day(at: string, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: "medium" }).format(new Date(at));
}

export function number(n: number, language: string): string {
  return new Intl.NumberFormat(language).format(n);
}

/** percent is a share such as "97.3 %"; "–" of nothing. */
export function percent(n: number, of: number, language: string): string {
  if (of <= 0) return "–";
  const share = n / of;
  const shown = share > 0.999 && share < 1 ? 0.999 : share > 0 && share < 0.001 ? 0.001 : share; // neither all nor none
  return new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 }).format(shown);
}

/** initials are one or two letters for an avatar. */
/** money is an amount with its currency; the amount alone where that is unknown. */
export function money(amount: number | string, currency: string | undefined, language: string): string {
  if (!currency) return String(amount);
  const format = { style: "currency", currency, maximumFractionDigits: 4 } as const;
  return new Intl.NumberFormat(language, format).format(Number(amount));
}

export function initials(name: string): string {
  const words = name
    .replace(/@.*/, "")
    .split(/[\s._-]+/)
    .filter(Boolean);
  return ((words[0]?.[0] ?? "?") + (words.length > 1 ? words[words.length - 1]![0] : "")).toUpperCase();
}

/** languageName is the name of a BCP 47 tag in a language, with a capital, as it stands alone. */
export function languageName(tag: string, language: string): string {
  try {
    const name = new Intl.DisplayNames([language], { type: "language" }).of(tag) ?? tag;
    return name === tag ? tag : name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
  } catch {
    return tag;
  }
}

const durationUnits = { h: "hour", m: "minute", s: "second" } as const;

/** duration spells a duration of the interface, such as "1h30m0s", as "1 hour 30 minutes". */
export function duration(text: string, language: string): string {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)([hms])(?![a-z])/g)].filter(([, n]) => Number(n) > 0);
  return parts
    .map(([, n, unit]) =>
      new Intl.NumberFormat(language, { style: "unit", unit: durationUnits[unit as "h"], unitDisplay: "long" }).format(
        Number(n),
      ),
    )
    .join(" ");
}

/** browserName is what a User-Agent names: browser and system. */
export function browserName(agent: string): string {
  const browser = /Edg\//.test(agent)
    ? "Edge"
    : /OPR\//.test(agent)
      ? "Opera"
      : /Firefox\//.test(agent)
        ? "Firefox"
        : /Chrom(e|ium)\//.test(agent)
          ? "Chrome"
          : /Safari\//.test(agent)
            ? "Safari"
            : agent.split(/[\s/]/)[0] || "";
  const system = /Android/.test(agent)
    ? "Android"
    : /iPhone|iPad/.test(agent)
      ? "iOS"
      : /Windows/.test(agent)
        ? "Windows"
        : /Mac OS X/.test(agent)
          ? "macOS"
          : /CrOS/.test(agent)
            ? "ChromeOS"
            : /Linux/.test(agent)
              ? "Linux"
              : "";
  return [browser, system].filter(Boolean).join(" · ");
}
