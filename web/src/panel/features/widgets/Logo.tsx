import { Button } from "@mantine/core";
import { IconPhoto } from "@tabler/icons-react";
import { useRef, useState, type ReactNode } from "react";
import { send } from "../../api";
import { useTexts } from "../../i18n";
import { problemText } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { texts } from "./texts";
import type { Widget } from "./types";
import { widgets } from "./places";
import classes from "./widgets.module.css";

/** maxFile is the largest file that the server takes. */
const maxFile = 1 << 20;

/** logoOf is the address of a widget's logo, also of one that is not saved yet. */
export function logoOf(w: Widget): string | undefined {
  return w.appearance.logo && `${widgets}/widget-logo/${w.id}/${w.appearance.logo}`;
}

/** Logo chooses the picture in the header of the widget. */
export function Logo({ digest, set, error }: { digest?: string; set: (digest?: string) => void; error?: ReactNode }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const input = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ReactNode>("");
  const upload = async (file?: File) => {
    if (!file) return;
    setProblem("");
    if (file.size > maxFile) {
      setProblem(t.logoBig);
      return;
    }
    const body = new FormData();
    body.append("file", file);
    setBusy(true);
    try {
      set((await send("post", "/widget-logos", { body })).logo);
    } catch (e) {
      setProblem(problemText(e));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div role="group" aria-label={t.logo}>
      <div className="field-label">{t.logo}</div>
      <div className="small muted">{t.logoHelp}</div>
      <div className={classes.logo}>
        <input
          ref={input}
          type="file"
          hidden
          aria-label={t.logo}
          accept="image/png,image/jpeg,image/webp"
          onChange={(e) => {
            void upload(e.currentTarget.files?.[0]);
            e.currentTarget.value = "";
          }}
        />
        <Button
          variant="default"
          leftSection={<IconPhoto size={16} />}
          loading={busy}
          onClick={() => input.current?.click()}
        >
          {digest ? t.logoReplace : t.logoUpload}
        </Button>
        {digest && (
          <Button variant="subtle" color="gray" onClick={() => set(undefined)}>
            {s.remove}
          </Button>
        )}
      </div>
      {(problem || error) && (
        <p className="small" role="alert" style={{ color: "var(--danger)", margin: "8px 0 0" }}>
          {problem || error}
        </p>
      )}
    </div>
  );
}
