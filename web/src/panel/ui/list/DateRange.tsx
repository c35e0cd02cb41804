import { Button, Loader, Popover } from "@mantine/core";
import { IconCalendar } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";
import { fill, useLanguage, useTexts } from "../../i18n";
import { listTexts } from "../texts";
import css from "./list.module.css";
import { dayText, noRange, presets, type Range } from "./range";

const Calendar = lazy(() => import("./Calendar"));

/** DateRange chooses the days of a list: a preset, or days in a calendar. */
export function DateRange({
  value,
  change,
}: {
  value: Range;
  change: (to: Record<keyof Range, string | undefined>) => void;
}) {
  const t = useTexts(listTexts);
  const language = useLanguage();
  const [opened, open] = useState(false);
  const [custom, setCustom] = useState(false);
  const own = !!(value.from || value.to);
  const choose = (to: Range) => {
    open(false);
    change({ ...noRange, ...to });
  };
  const day = (d: string) => dayText(d, language);
  const shown = value.range
    ? t[`range_${value.range}`]
    : value.from && value.to
      ? value.from === value.to
        ? day(value.from)
        : `${day(value.from)} – ${day(value.to)}`
      : value.from
        ? fill(t.since, { day: day(value.from) })
        : value.to
          ? fill(t.until, { day: day(value.to) })
          : t.anyTime;
  return (
    <Popover
      opened={opened}
      onChange={open}
      position="bottom-start"
      trapFocus
      returnFocus
      withinPortal
      onClose={() => setCustom(false)}
    >
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconCalendar size={15} />}
          aria-label={`${t.days}: ${shown}`}
          data-on={value.range || own ? "yes" : undefined}
          onClick={() => open(!opened)}
        >
          {shown}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p={6} aria-label={t.days}>
        {custom ? (
          <Suspense fallback={<Loader size={20} m={24} aria-label={t.days} />}>
            <Calendar value={value} choose={choose} />
          </Suspense>
        ) : (
          <div className={css.options} role="group" aria-label={t.days}>
            <button type="button" aria-pressed={!value.range && !own} data-autofocus onClick={() => choose({})}>
              {t.anyTime}
            </button>
            {presets.map((p) => (
              <button key={p} type="button" aria-pressed={value.range === p} onClick={() => choose({ range: p })}>
                {t[`range_${p}`]}
              </button>
            ))}
            <button type="button" aria-pressed={own} onClick={() => setCustom(true)}>
              {t.custom}
            </button>
          </div>
        )}
      </Popover.Dropdown>
    </Popover>
  );
}
