import { useTexts } from "../../i18n";
import type { Live } from "../../live";
import { listTexts } from "../texts";
import css from "./list.module.css";
import { useStreaming } from "./useLiveList";

/** Streaming says whether a list shows what happens as it happens. */
export function Streaming({ stream }: { stream: Live }) {
  const t = useTexts(listTexts);
  const live = useStreaming(stream);
  return (
    <span className={css.stream} role="status" data-live={live ? "yes" : "no"}>
      <i aria-hidden="true" />
      {live ? t.live : t.offline}
    </span>
  );
}
