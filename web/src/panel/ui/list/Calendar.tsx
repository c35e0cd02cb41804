import "@mantine/dates/styles.css";
import { Button, Group } from "@mantine/core";
import { DatePicker, DatesProvider } from "@mantine/dates";
import "dayjs/locale/es";
import "dayjs/locale/pt-br";
import { useState } from "react";
import { useLanguage, useTexts } from "../../i18n";
import { listTexts } from "../texts";
import type { Range } from "./range";

const locales = { en: "en", es: "es", pt: "pt-br" };

/** Calendar chooses the first and the last day of a range; one day alone is both. */
export default function Calendar({ value, choose }: { value: Range; choose: (to: Range) => void }) {
  const t = useTexts(listTexts);
  const language = useLanguage();
  const [days, set] = useState<[string | null, string | null]>([value.from ?? null, value.to ?? null]);
  const [from, to] = days;
  return (
    <DatesProvider settings={{ locale: locales[language], firstDayOfWeek: language === "en" ? 0 : 1, weekendDays: [] }}>
      <DatePicker
        type="range"
        allowSingleDateInRange
        value={days}
        onChange={set}
        maxDate={new Date()}
        hideOutsideDates
        maxLevel="month"
        ariaLabels={{ nextMonth: t.nextMonth, previousMonth: t.previousMonth }}
      />
      <Group justify="flex-end" mt={8}>
        <Button
          size="xs"
          disabled={!from}
          onClick={() => choose({ from: from ?? undefined, to: to ?? from ?? undefined })}
        >
          {t.apply}
        </Button>
      </Group>
    </DatesProvider>
  );
}
