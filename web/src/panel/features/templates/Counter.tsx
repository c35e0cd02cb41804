import { number } from "../../format";
import { useLanguage } from "../../i18n";
import { long } from "./rules";

/** Counter is how much of a limit a text has taken. */
export function Counter({ text, most }: { text: string; most: number }) {
  const language = useLanguage();
  const n = long(text);
  return (
    <span className="templates-counter" data-over={n > most ? "yes" : n > most * 0.9 ? "nearly" : undefined}>
      {number(n, language)}/{number(most, language)}
    </span>
  );
}
