import { IconBellRinging } from "@tabler/icons-react";
import { useEffect, type ReactNode } from "react";
import { failed } from "../../ui/problem";
import { languages, setLanguage, useLanguage, type Language } from "../../i18n";

/** Door is the page before the sign-in. */
export function Door({ title, about, children }: { title: string; about: ReactNode; children: ReactNode }) {
  const language = useLanguage();
  useEffect(() => {
    document.title = title + " · Carillon";
  }, [title]);
  return (
    <div className="door">
      <main>
        <div className="logo">
          <span className="mark" aria-hidden="true">
            <IconBellRinging size={17} />
          </span>
          Carillon
        </div>
        <h1>{title}</h1>
        <p className="muted" style={{ margin: 0 }}>
          {about}
        </p>
        {children}
      </main>
      <footer>
        {Object.entries(languages).map(([value, name]) => (
          <button
            key={value}
            type="button"
            lang={value}
            className="quiet-button"
            aria-pressed={value === language}
            onClick={() => void setLanguage(value as Language).catch(failed)}
          >
            {name}
          </button>
        ))}
      </footer>
    </div>
  );
}
