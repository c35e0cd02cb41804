import { Select } from "@mantine/core";
import { useTexts } from "../../i18n";
import { useCompany } from "../../session";
import { roles, type Role } from "../session/types";
import { shared } from "../../ui/texts";
import { mayChange } from "./UsersPage";
import { texts } from "./texts";

/** RoleField chooses among the roles that the person may give. */
export function RoleField({ value, onChange }: { value: Role; onChange: (role: Role) => void }) {
  const t = useTexts(texts);
  const s = useTexts(shared);
  const company = useCompany();
  const open = roles.filter((r) => mayChange(company.role, r));
  return (
    <Select
      label={t.role}
      description={t[`${value}Help`]}
      value={value}
      onChange={(v) => v && onChange(v)}
      allowDeselect={false}
      checkIconPosition="right"
      data={open.map((r) => ({ value: r, label: s[r] }))}
      comboboxProps={{ withinPortal: true }}
      renderOption={({ option }) => (
        <div>
          <div>{option.label}</div>
          <div className="small muted">{t[`${option.value}Help`]}</div>
        </div>
      )}
    />
  );
}
