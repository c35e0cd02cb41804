import type { Texts } from "../texts";

/** Failed says that there is no chat, and offers to try again. */
export function Failed({ texts, problem, retry }: { texts: Texts; problem?: string; retry: () => void }) {
  return (
    <main class="failed">
      <p role="alert">{texts.failed}</p>
      {problem && <p class="small">{problem}</p>}
      <button class="primary" onClick={retry}>
        {texts.reload}
      </button>
    </main>
  );
}
