import { IconUser } from "@tabler/icons-react";
import { letters } from "./model";

export function Avatar({ name }: { name?: string }) {
  return <span className="inbox-avatar" aria-hidden>{letters(name ?? "") || <IconUser size={17} stroke={1.7} />}</span>;
}
