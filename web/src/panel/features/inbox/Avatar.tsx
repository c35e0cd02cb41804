import { IconUser, IconUsersGroup } from "@tabler/icons-react";
import { initials } from "../../format";

export function Avatar({ name, group }: { name?: string; group?: boolean }) {
  const Icon = group ? IconUsersGroup : IconUser;
  return (
    <span className="inbox-avatar" aria-hidden>
      {name ? initials(name) : <Icon size={17} stroke={1.7} />}
    </span>
  );
}
