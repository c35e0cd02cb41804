import { SegmentedControl } from "@mantine/core";
import { useTexts } from "../../i18n";
import { transports, type Transport } from "./trunk";
import { texts } from "./texts";

/** TransportField is how SIP is carried to a trunk. */
export function TransportField({
  value,
  onChange,
  disabled,
}: {
  value: Transport;
  onChange: (to: Transport) => void;
  disabled?: boolean;
}) {
  const t = useTexts(texts);
  return (
    <div>
      <div className="field-label">{t.transport}</div>
      <SegmentedControl
        aria-label={t.transport}
        value={value}
        disabled={disabled}
        onChange={(to) => onChange(to)}
        data={transports.map((x) => ({ value: x, label: x.toUpperCase() }))}
      />
    </div>
  );
}
