import { ActionIcon, Button, Progress } from "@mantine/core";
import { IconCircle, IconCircleCheckFilled, IconX } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { fill, useTexts } from "../../i18n";
import { useCan, useCompany, useMe } from "../../session";
import { Card } from "../../ui/parts";
import { stepTexts } from "./texts";
import type { Step } from "./types";
import { useFirstSteps } from "./useOverview";

/** Where each step is done, and what it needs. */
const places: Record<Step, { to: string; needs: string }> = {
  sender: { to: "/senders/new", needs: "senders:write" },
  template: { to: "/templates", needs: "templates:write" },
  key: { to: "/keys", needs: "keys:write" },
  delivered: { to: "/send", needs: "notifications:send" },
  widget: { to: "/widgets", needs: "resources:write" },
  teammate: { to: "/users", needs: "users:write" },
};

const keptName = (company: string, account: string) => `carillon.first-steps.${company}.${account}`;

function closedBefore(kept: string): boolean {
  try {
    return localStorage.getItem(kept) === "closed";
  } catch {
    return false;
  }
}

/** useFirstStepsKnown says whether it is known what FirstSteps shows: until then nothing stands below it, which would be pushed down. */
export function useFirstStepsKnown(): boolean {
  const me = useMe();
  const company = useCompany();
  const [closed] = useState(() => closedBefore(keptName(company.id, me.account.id)));
  return !useFirstSteps(!closed).isPending || closed;
}

/** FirstSteps is what a new company does once, as the server has it. Who does not want it closes it for good, in this browser. */
export function FirstSteps() {
  const t = useTexts(stepTexts);
  const me = useMe();
  const company = useCompany();
  const can = useCan();
  const kept = keptName(company.id, me.account.id);
  const [closed, setClosed] = useState(() => closedBefore(kept));
  const steps = useFirstSteps(!closed);
  const all = steps.data?.data ?? [];
  const done = all.filter((s) => s.done).length;
  if (closed || all.length === 0 || done === all.length) return null;
  const close = () => {
    setClosed(true);
    try {
      localStorage.setItem(kept, "closed");
    } catch {
      /* until the page is loaded again */
    }
  };
  const next = all.find((s) => !s.done && can(places[s.step].needs))?.step;
  return (
    <Card
      title={t.title}
      actions={
        <ActionIcon variant="subtle" color="gray" aria-label={t.close} title={t.close} onClick={close}>
          <IconX size={16} />
        </ActionIcon>
      }
    >
      <div className="steps-progress">
        <Progress value={(done / all.length) * 100} aria-label={t.title} size="sm" />
        <span className="small muted">{fill(t.done, { n: done, of: all.length })}</span>
      </div>
      <ol className="steps">
        {all.map((s) => (
          <li key={s.step} data-done={s.done || undefined}>
            {s.done ? (
              <IconCircleCheckFilled size={20} aria-hidden="true" />
            ) : (
              <IconCircle size={20} aria-hidden="true" />
            )}
            <div>
              <b>{t[s.step]}</b>
              <span className="hidden"> {s.done ? t.isDone : t.isOpen}</span>
              {!s.done && <p className="small muted">{t[`${s.step}Text`]}</p>}
            </div>
            {!s.done && can(places[s.step].needs) && (
              <Button
                size="xs"
                variant={s.step === next ? "filled" : "default"}
                component={Link}
                to={places[s.step].to}
              >
                {t[`${s.step}Go`]}
              </Button>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}
