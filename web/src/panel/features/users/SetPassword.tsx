import { Button, Group, Modal, Stack } from "@mantine/core";
import { useEffect, useState, type ReactNode } from "react";
import { post, Problem } from "../../api";
import { fill, useTexts } from "../../i18n";
import type { User } from "./types";
import { Note } from "../../ui/parts";
import { failed, succeeded, why } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { invented, PasswordField } from "./PasswordField";
import { texts } from "./texts";

/** SetPassword gives a user another password. */
export function SetPassword({ user, close }: { user: User | null; close: () => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const [value, setValue] = useState("");
  const [error, setError] = useState<ReactNode>("");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    setValue(user ? invented() : "");
    setError("");
  }, [user]);
  const name = user?.name || user?.email || "";
  const save = async () => {
    if ([...value].length < 12) {
      setError(t.short);
      return;
    }
    setBusy(true);
    try {
      await post(`/users/${user!.id}/password`, { password: value });
      succeeded(t.resetDone);
      close();
    } catch (e) {
      if (e instanceof Problem && e.field === "password") setError(why(e));
      else failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      opened={user !== null}
      onClose={close}
      title={fill(t.resetTitle, { name })}
      closeButtonProps={{ "aria-label": s.close }}
      size={460}
    >
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void save();
        }}
      >
        <Stack>
          <Note tone="warn">
            <p>
              {fill(t.resetText, { name })} {t.addedText}
            </p>
          </Note>
          <PasswordField
            label={t.newPassword}
            data-autofocus
            value={value}
            error={error}
            onChange={(e) => setValue(e.currentTarget.value)}
            invent={() => setValue(invented())}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {s.cancel}
            </Button>
            <Button type="submit" loading={busy}>
              {t.reset}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
