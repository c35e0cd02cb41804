import { Button } from "@mantine/core";
import { IconPhoneCall } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useTexts } from "../../i18n";
import { useCan } from "../../session";
import { numberIn } from "../../ui/number";
import { useLines } from "../lines/useLines";
import { pageTexts } from "./texts";

/** byCall reports whether the advice about a message that failed is to call. */
export const byCall = (r: { reason?: string; number: string }): boolean =>
  r.reason === "undeliverable" && numberIn(r.number) !== "";

/** CallInstead leads to the form of a call to someone whom no message reaches, where the company has a line. */
export function CallInstead({ to, campaign }: { to: { number: string; name?: string }; campaign?: string }) {
  const p = useTexts(pageTexts);
  const lines = useLines(false).data ?? [];
  if (!useCan()("notifications:send") || lines.length === 0) return null;
  const search = {
    tab: "call" as const,
    number: to.number,
    name: to.name || undefined,
    campaign: campaign || undefined,
  };
  return (
    <Button
      variant="default"
      size="xs"
      mt={8}
      leftSection={<IconPhoneCall size={15} />}
      renderRoot={(props) => <Link to="/send" search={search} {...props} />}
    >
      {p.callInstead}
    </Button>
  );
}
