import { Tabs, type TabsListProps } from "@mantine/core";
import { useFading } from "./fading";

/** TabList is the tabs of a page. Where they have no room they scroll: the selected one stays in view. */
export function TabList({ children, ...p }: TabsListProps) {
  const list = useFading<HTMLDivElement>("");
  return (
    <Tabs.List {...p} ref={list} className="fading-x">
      {children}
    </Tabs.List>
  );
}
