import { Button, TextInput } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { Problem } from "../../api";
import { useTexts } from "../../i18n";
import { Card } from "../../ui/parts";
import { failed, succeeded, why } from "../../ui/problem";
import { checkTexts } from "./texts";
import type { Report } from "./types";
import { useSenderChanges } from "./useSenders";

/** RegisterCard registers a number at Meta, or changes the PIN of one that is registered. The PIN is kept nowhere. */
export function RegisterCard({ id, report }: { id: string; report: Report | undefined }) {
  const t = useTexts(checkTexts);
  const [open, setOpen] = useState(false);
  const code = report?.findings?.find((f) => f.item === "registration")?.code;
  if (code === "not_registered")
    return (
      <Card title={t.register}>
        <PIN key="register" id={id} />
      </Card>
    );
  if (code !== "registered") return null;
  return (
    <Card
      title={t.pinTitle}
      actions={
        !open && (
          <Button variant="default" size="compact-sm" onClick={() => setOpen(true)}>
            {t.pinChange}
          </Button>
        )
      }
    >
      {open ? (
        <PIN key="change" id={id} registered done={() => setOpen(false)} />
      ) : (
        <p className="muted flat">{t.pinAbout}</p>
      )}
    </Card>
  );
}

/** PIN asks for six digits and sends them to Meta; then the check runs again. */
function PIN({ id, registered, done }: { id: string; registered?: boolean; done?: () => void }) {
  const t = useTexts(checkTexts);
  const { register, setPIN, check } = useSenderChanges();
  const [pin, setPin] = useState("");
  const [error, setError] = useState<ReactNode>();
  const [busy, setBusy] = useState(false);
  const send = async (e: FormEvent) => {
    e.preventDefault();
    if (!/^\d{6}$/.test(pin)) {
      setError(t.pinDigits);
      return;
    }
    setBusy(true);
    setError(undefined);
    try {
      await (registered ? setPIN : register)(id, pin);
      setPin("");
      succeeded(registered ? t.pinChanged : t.registeredDone);
      done?.();
    } catch (e) {
      setError(refusal(e, t as Record<string, string>) ?? why(e));
      setBusy(false);
      return;
    }
    await check(id).catch(failed);
    setBusy(false);
  };
  return (
    <form className="stack" style={{ gap: 12 }} onSubmit={(e) => void send(e)} noValidate>
      <p className="muted flat">{registered ? t.pinAbout : t.registerAbout}</p>
      <TextInput
        label={t.pin}
        description={registered ? t.pinNew : t.pinHelp}
        value={pin}
        onChange={(e) => {
          setPin(e.currentTarget.value.replace(/\D/g, "").slice(0, 6));
          setError(undefined);
        }}
        error={error}
        type="password"
        inputMode="numeric"
        autoComplete="off"
        maxLength={6}
        style={{ maxWidth: 260 }}
      />
      <div>
        <Button type="submit" loading={busy}>
          {registered ? t.pinChange : t.register}
        </Button>
      </div>
    </form>
  );
}

/** refusal is the reason of a refusal of Meta, in the language of the page; undefined if it has no text. */
export function refusal(e: unknown, t: Record<string, string>): string | undefined {
  const why = e instanceof Problem ? (e.details as Record<string, unknown> | undefined)?.refusal : undefined;
  return typeof why === "string" ? t["refused_" + why] : undefined;
}
