import { Button, Group, Modal, SegmentedControl, Stack, Textarea, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { post, Problem } from "../../api";
import { useTexts } from "../../i18n";
import type { Article } from "./types";
import { failed, why } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { texts } from "./texts";

/** Import reads an article from a page or from Markdown; it is stored when it has been looked at. */
export function Import({ opened, close, got }: { opened: boolean; close: () => void; got: (a: Article) => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const [from, setFrom] = useState("url");
  const [text, setText] = useState("");
  const [error, setError] = useState<ReactNode>("");
  const [busy, setBusy] = useState(false);
  const submit = async () => {
    if (!text.trim()) {
      setError(s.required);
      return;
    }
    setBusy(true);
    try {
      got(await post("/knowledge/import", { [from]: from === "url" ? text.trim() : text }));
    } catch (e) {
      if (e instanceof Problem && e.field) setError(why(e));
      else failed(e);
    } finally {
      setBusy(false);
    }
  };
  const change = (v: string) => {
    setText(v);
    setError("");
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      onExitTransitionEnd={() => change("")}
      title={t.importTitle}
      closeButtonProps={{ "aria-label": s.close }}
      size={540}
    >
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void submit();
        }}
        noValidate
      >
        <Stack>
          <SegmentedControl
            aria-label={t.importTitle}
            value={from}
            onChange={(v) => {
              setFrom(v);
              change("");
            }}
            data={[
              { value: "url", label: t.fromPage },
              { value: "markdown", label: t.fromMarkdown },
            ]}
          />
          {from === "url" ? (
            <TextInput
              label={t.pageAddress}
              description={t.pageHelp}
              type="url"
              placeholder="https://www.example.com/faq"
              data-autofocus
              value={text}
              onChange={(e) => change(e.currentTarget.value)}
              error={error}
            />
          ) : (
            <Textarea
              label={t.markdown}
              autosize
              minRows={8}
              maxRows={18}
              value={text}
              onChange={(e) => change(e.currentTarget.value)}
              error={error}
              styles={{ input: { fontFamily: "var(--mono)", fontSize: 13 } }}
            />
          )}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {s.cancel}
            </Button>
            <Button type="submit" loading={busy}>
              {t.read}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
