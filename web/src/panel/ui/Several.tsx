import { MultiSelect, type MultiSelectProps } from "@mantine/core";
import { useState } from "react";

/** Several chooses several of a list, which closes after each choice, so that it covers nothing below it. */
export function Several(p: MultiSelectProps) {
  const [opened, set] = useState(false);
  return (
    <MultiSelect
      {...p}
      dropdownOpened={opened}
      onDropdownOpen={() => set(true)}
      onDropdownClose={() => set(false)}
      onOptionSubmit={() => set(false)}
    />
  );
}
