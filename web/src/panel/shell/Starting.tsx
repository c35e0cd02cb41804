import { useTexts } from "../i18n";
import { useSlow } from "../ui/waiting";
import { texts } from "./texts";

/** Starting stands where the panel will be, until the session is known. The page begins with the same in index.html. */
export function Starting() {
  const t = useTexts(texts);
  const slow = useSlow(true);
  return (
    <main className="starting" aria-busy="true">
      <h1 className="hidden">Carillon</h1>
      <i aria-hidden="true" />
      <p role="status">{slow ? t.slow : t.starting}</p>
    </main>
  );
}

/** Slow says, once it has been long, that something is still loading. */
export function Slow() {
  const t = useTexts(texts);
  return (
    <p className="small muted" role="status">
      {useSlow(true) && t.slow}
    </p>
  );
}
