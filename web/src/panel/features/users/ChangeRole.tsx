import { Button, Group, Modal, Stack } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { patch } from "../../api";
import { useTexts } from "../../i18n";
import { useCompany } from "../../session";
import type { Role } from "../session/types";
import type { User } from "./types";
import { failed, succeeded } from "../../ui/problem";
import { shared } from "../../ui/texts";
import { RoleField } from "./RoleField";
import { texts } from "./texts";

/** ChangeRole gives a user another role. */
export function ChangeRole({ user, close }: { user: User | null; close: () => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const company = useCompany();
  const client = useQueryClient();
  const [role, setRole] = useState<Role>("viewer");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (user) setRole(user.role);
  }, [user]);
  const save = async () => {
    if (!user) return;
    setBusy(true);
    try {
      await patch(`/users/${user.id}`, { role });
      succeeded(t.roleChanged);
      void client.invalidateQueries({ queryKey: [company.id, "users"] });
      close();
    } catch (e) {
      failed(e);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      opened={user !== null}
      onClose={close}
      title={`${t.changeRole}: ${user?.name || user?.email || ""}`}
      closeButtonProps={{ "aria-label": s.close }}
      size={420}
    >
      <Stack>
        <RoleField value={role} onChange={setRole} />
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {s.cancel}
          </Button>
          <Button loading={busy} disabled={role === user?.role} onClick={() => void save()}>
            {s.save}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
