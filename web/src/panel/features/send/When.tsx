import { Checkbox, Select, TextInput } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { absolute } from "../../format";
import { fill, useLanguage, useTexts } from "../../i18n";
import { instantIn, localIn, zones } from "../notifications/zones";
import { texts } from "./texts";

/** ownZone is the zone of who looks at the page. */
export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** unset is a time that is still to be chosen: not now, which "" is. */
export const unset = "unset";

/** When is now, or later at a time on the clocks of a zone. at is empty for now, and unset while the field lacks a part of the time. */
export function When({
  at,
  zone,
  change,
  error,
}: {
  at: string;
  zone: string;
  change: (to: { at: string; zone: string }) => void;
  error?: ReactNode;
}) {
  const t = useTexts(texts);
  const language = useLanguage();
  const [later, setLater] = useState(at !== "");
  const instant = at && at !== unset ? instantIn(at, zone) : undefined;
  const past = instant !== undefined && instant <= Date.now();
  const first = () => localIn(Math.ceil((Date.now() + 3_600_000) / 900_000) * 900_000, zone);
  return (
    <div className="send-when">
      <Checkbox
        label={t.sendLater}
        checked={later}
        onChange={(e) => {
          setLater(e.currentTarget.checked);
          change({ at: e.currentTarget.checked ? first() : "", zone });
        }}
      />
      {later && (
        <div className="send-later" role="group" aria-label={t.sendLater}>
          <div className="send-pair">
            <TextInput
              type="datetime-local"
              label={t.date}
              value={at === unset ? "" : at}
              error={error ?? (past ? t.inPast : at === unset ? t.required : undefined)}
              onChange={(e) => change({ at: e.currentTarget.value || unset, zone })}
            />
            <Select
              label={t.zone}
              value={zone}
              data={zones(ownZone)}
              searchable
              allowDeselect={false}
              limit={60}
              onChange={(v) => change({ at, zone: v ?? ownZone })}
            />
          </div>
          {instant !== undefined && !past && (
            <p className="muted small send-none" role="status">
              {zone === ownZone
                ? fill(t.leavesAt, { time: absolute(new Date(instant).toISOString(), language) })
                : fill(t.forYou, { time: absolute(new Date(instant).toISOString(), language), zone: ownZone })}
            </p>
          )}
        </div>
      )}
    </div>
  );
}
