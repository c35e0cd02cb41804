import { ActionIcon, Button, Checkbox, NumberInput, SegmentedControl, TextInput, Tooltip } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { fill, useTexts } from "../../i18n";
import { Counter } from "./Counter";
import { newApp, type CodeMethod, type FormCode } from "./form";
import { limits } from "./rules";
import { editorTexts } from "./texts";

interface Props {
  code: FormCode;
  change: (to: Partial<FormCode>) => void;
  error: (field: string) => ReactNode;
}

const methods: CodeMethod[] = ["COPY_CODE", "ONE_TAP", "ZERO_TAP"];

/** CodeFields are the choices of a one-time code. Its words are the channel's own, in the language of the template. */
export function CodeFields({ code, change, error }: Props) {
  const t = useTexts(editorTexts);
  return (
    <div className="templates-code" role="group" aria-label={t.code_}>
      <p className="templates-help small muted">{t.codeHelp}</p>
      <div>
        <span className="field-label" id="template-code-method">
          {t.codeMethod}
        </span>
        <SegmentedControl
          aria-labelledby="template-code-method"
          className="templates-segments"
          value={code.method}
          onChange={(method) => change({ method, apps: code.apps.length === 0 ? [newApp()] : code.apps })}
          data={methods.map((m) => ({ value: m, label: t[`code_${m}`] }))}
        />
        <p className="templates-help small muted">{t[`code_${code.method}_help`]}</p>
      </div>
      <Checkbox
        label={t.codeWarning}
        checked={code.warning}
        onChange={(e) => change({ warning: e.currentTarget.checked })}
      />
      <NumberInput
        label={t.codeMinutes}
        description={t.codeMinutesHelp}
        value={code.minutes}
        allowDecimal={false}
        allowNegative={false}
        max={999}
        error={error("code.minutes")}
        onChange={(v) => change({ minutes: String(v) })}
      />
      <TextInput
        label={
          <>
            {t.codeButton} <span className="muted templates-optional">{t.optional}</span>
          </>
        }
        description={t.codeButtonHelp}
        value={code.text}
        maxLength={60}
        error={error("code.text")}
        onChange={(e) => change({ text: e.currentTarget.value })}
        rightSection={<Counter text={code.text} most={limits.button} />}
        rightSectionWidth={64}
        rightSectionPointerEvents="none"
      />
      {code.method !== "COPY_CODE" && <Apps code={code} change={change} error={error} />}
      {code.method === "ZERO_TAP" && (
        <Checkbox
          label={t.codeTerms}
          checked={code.terms}
          error={error("code.terms")}
          onChange={(e) => change({ terms: e.currentTarget.checked })}
        />
      )}
    </div>
  );
}

function Apps({ code, change, error }: Props) {
  const t = useTexts(editorTexts);
  const set = (i: number, to: Partial<FormCode["apps"][number]>) =>
    change({ apps: code.apps.map((a, n) => (n === i ? { ...a, ...to } : a)) });
  return (
    <div className="templates-apps" role="group" aria-label={t.apps}>
      <span className="field-label">{t.apps}</span>
      <p className="templates-help small muted">{t.appsHelp}</p>
      {code.apps.map((a, i) => (
        <div key={a.key} className="templates-app">
          <TextInput
            aria-label={fill(t.appName, { n: i + 1 })}
            placeholder="com.example.app"
            spellCheck={false}
            value={a.name}
            maxLength={230}
            error={error(`code.apps.${i}.name`)}
            onChange={(e) => set(i, { name: e.currentTarget.value })}
          />
          <TextInput
            aria-label={fill(t.appHash, { n: i + 1 })}
            placeholder="K8a/AINcGX7"
            spellCheck={false}
            value={a.hash}
            maxLength={20}
            error={error(`code.apps.${i}.hash`)}
            onChange={(e) => set(i, { hash: e.currentTarget.value })}
          />
          <Tooltip label={t.removeButton}>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={fill(t.removeN, { name: a.name || String(i + 1) })}
              onClick={() => change({ apps: code.apps.filter((_, n) => n !== i) })}
            >
              <IconTrash size={15} />
            </ActionIcon>
          </Tooltip>
        </div>
      ))}
      {error("code.apps") && (
        <p className="templates-error small" role="alert">
          {error("code.apps")}
        </p>
      )}
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPlus size={15} />}
        disabled={code.apps.length >= limits.apps}
        onClick={() => change({ apps: [...code.apps, newApp()] })}
      >
        {t.addApp}
      </Button>
    </div>
  );
}
