import { Button } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useTexts } from "../../i18n";
import { Day } from "../../ui/Day";
import type { Go } from "./ActivityPage";
import { narrowed, noFilters, type Address } from "./address";
import { texts } from "./texts";

/** Days are the filters that both lists have, and what removes all filters. */
export function Days({ address: a, go }: { address: Address; go: Go }) {
  const t = useTexts(texts);
  return (
    <>
      <Day label={t.from} before value={a.from} most={a.to} change={(from) => go({ from })} />
      <Day label={t.to} before value={a.to} least={a.from} change={(to) => go({ to })} />
      {narrowed(a) && (
        <Button
          variant="subtle"
          color="gray"
          leftSection={<IconX size={14} />}
          onClick={() => go({ ...noFilters, status: a.status === "accepted" ? a.status : undefined })}
        >
          {t.clear}
        </Button>
      )}
    </>
  );
}
