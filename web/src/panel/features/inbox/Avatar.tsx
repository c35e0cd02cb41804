import { IconUser } from "@tabler/icons-react";
import { initials } from "../../format";

export function Avatar({ name }: { name?: string }) {
  return <span className="inbox-avatar" aria-hidden>{name ? initials(name) : <IconUser size={17} stroke={1.7} />}</span>;
}
