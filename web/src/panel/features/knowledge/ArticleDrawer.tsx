import { Button, Drawer, Group, Textarea, TextInput } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useState, type ReactNode } from "react";
import { Problem } from "../../api";
import { useTexts } from "../../i18n";
import type { Article } from "./types";
import { confirm } from "../../ui/confirm";
import { LanguageField } from "../../ui/LanguageField";
import { More } from "../../ui/More";
import { Note } from "../../ui/parts";
import { failed, why } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { questionTexts, siteTexts, texts } from "./texts";

/** ArticleDrawer shows an article, and changes it. */
export function ArticleDrawer({
  article,
  fresh,
  mayEdit,
  close,
  save,
  drop,
}: {
  article: Article | undefined;
  fresh: boolean;
  mayEdit: boolean;
  close: () => void;
  save: (a: Article) => Promise<void>;
  drop: () => void;
}) {
  const t = useTexts(texts);
  const q = useTexts(questionTexts);
  const s = useTexts(shared);
  const st = useTexts(siteTexts);
  const [a, set] = useState<Article>(article ?? { title: "", text: "", url: "" });
  const [wordings, setWordings] = useState((article?.questions ?? []).join("\n"));
  const questions = wordings
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<{ field: string; text: ReactNode } | null>(null);
  const change = (more: Partial<Article>) => {
    set((x) => ({ ...x, ...more }));
    setProblem(null);
  };
  const error = (field: string) =>
    problem?.field.endsWith("." + field) || problem?.field === field ? problem.text : undefined;
  const leave = async () => {
    const changed =
      article &&
      (JSON.stringify(a) !== JSON.stringify(article) ||
        JSON.stringify(questions) !== JSON.stringify(article.questions ?? []));
    if (
      !changed ||
      (await confirm({ title: s.leave, text: s.leaveText, action: s.discard, cancel: s.stay, danger: true }))
    )
      close();
  };
  const submit = async () => {
    if (!a.text.trim()) {
      setProblem({ field: "text", text: s.required });
      return;
    }
    setBusy(true);
    try {
      await save({
        ...a,
        title: a.title.trim(),
        url: a.url.trim(),
        language: a.language?.trim() || undefined,
        questions: questions.length ? questions : undefined,
      });
    } catch (e) {
      if (e instanceof Problem && e.field.startsWith("articles.")) setProblem({ field: e.field, text: why(e) });
      else failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Drawer
      opened={!!article}
      onClose={() => void leave()}
      position="right"
      size={620}
      title={fresh ? t.write : t.article}
      closeButtonProps={{ "aria-label": s.close }}
    >
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void submit();
        }}
        noValidate
      >
        <fieldset
          disabled={!mayEdit}
          className="form"
          style={{ border: 0, margin: 0, padding: 0, maxWidth: "none", minWidth: 0 }}
        >
          {article?.site && mayEdit && <Note>{st.fromHelp}</Note>}
          <TextInput
            label={t.articleTitle}
            maxLength={255}
            data-autofocus
            value={a.title}
            onChange={(e) => change({ title: e.currentTarget.value })}
            error={error("title")}
          />
          <Textarea
            label={t.text}
            description={t.textHelp}
            autosize
            minRows={16}
            maxRows={24}
            value={a.text}
            onChange={(e) => change({ text: e.currentTarget.value })}
            error={error("text")}
          />
          <Textarea
            label={q.otherWordings}
            description={q.otherWordingsHelp}
            autosize
            minRows={2}
            maxRows={10}
            value={wordings}
            onChange={(e) => {
              setWordings(e.currentTarget.value);
              setProblem(null);
            }}
            error={problem && /(^|\.)questions(\.|$)/.test(problem.field) ? problem.text : undefined}
          />
          <div className="pair">
            <LanguageField
              label={t.language}
              description={t.guessed}
              value={a.language ?? ""}
              onChange={(language) => change({ language })}
              error={error("language")}
            />
            <TextInput
              label={t.url}
              description={t.urlHelp}
              type="url"
              value={a.url}
              onChange={(e) => change({ url: e.currentTarget.value })}
              error={error("url")}
            />
          </div>
        </fieldset>
        {mayEdit && (
          <Group mt={24}>
            {!fresh && (
              <More
                of={a.title || t.untitled}
                acts={[{ label: t.remove, icon: <IconTrash size={16} />, danger: true, run: drop }]}
              />
            )}
            <Group ml="auto">
              <Button variant="default" onClick={() => void leave()}>
                {s.cancel}
              </Button>
              <Button type="submit" loading={busy}>
                {s.save}
              </Button>
            </Group>
          </Group>
        )}
      </form>
    </Drawer>
  );
}
