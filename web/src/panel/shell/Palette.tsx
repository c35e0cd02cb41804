import "@mantine/spotlight/styles.css";
import { createSpotlight, Spotlight, type SpotlightActionGroupData } from "@mantine/spotlight";
import {
  IconBook2,
  IconBuilding,
  IconKeyboard,
  IconListSearch,
  IconLogout,
  IconMoon,
  IconSearch,
  IconUserCircle,
} from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useState, type KeyboardEvent } from "react";
import { idIn } from "../features/notifications/address";
import { lookUp } from "../features/notifications/lookup";
import { fill, useTexts } from "../i18n";
import { useCan, useCompany, useMe } from "../session";
import { numberIn } from "../ui/number";
import { failed, succeeded } from "../ui/problem";
import { signOut } from "./actions";
import { pagesOf } from "./sections";
import { texts } from "./texts";
import { useTheme } from "./theme";

const [store, spotlight] = createSpotlight();

/** chooseFirst takes what is found first when Enter comes before the list has selected it. */
function chooseFirst(e: KeyboardEvent) {
  if (e.key === "Enter" && !document.querySelector(".palette [data-selected]"))
    document.querySelector<HTMLElement>(".palette [data-action]")?.click();
}

/** Palette finds pages and actions by name. It opens whenever asked grows. */
export default function Palette({ asked, shortcuts }: { asked: number; shortcuts: () => void }) {
  const t = useTexts(texts);
  const can = useCan();
  const me = useMe();
  const company = useCompany();
  const navigate = useNavigate();
  const { shown, set } = useTheme();
  const [query, setQuery] = useState("");
  const text = query.trim();
  useEffect(() => {
    if (asked > 0) spotlight.open();
  }, [asked]);
  const actions = useMemo(
    (): SpotlightActionGroupData[] => [
      ...(can("notifications:read") && (numberIn(text) || idIn(text))
        ? [
            {
              group: t.messages,
              actions: [
                {
                  id: "look-up",
                  label: fill(t.lookFor, { text }),
                  leftSection: <IconListSearch size={18} stroke={1.7} />,
                  onClick: () =>
                    void lookUp(text).then((place) => {
                      if (place) void navigate(place as never);
                      else succeeded(fill(t.lookedFor, { text }));
                    }, failed),
                },
              ],
            },
          ]
        : []),
      {
        group: t.pages,
        actions: [
          ...pagesOf(can).map(({ to, text, icon: Icon, keywords }) => ({
            id: to,
            label: t[text],
            keywords,
            leftSection: <Icon size={18} stroke={1.7} />,
            onClick: () => void navigate({ to }),
          })),
          {
            id: "/account",
            label: t.account,
            keywords: "password sessions profile",
            leftSection: <IconUserCircle size={18} stroke={1.7} />,
            onClick: () => void navigate({ to: "/account" }),
          },
        ],
      },
      {
        group: t.actions,
        actions: [
          ...me.companies
            .filter((c) => c.id !== company.id)
            .map((c) => ({
              id: c.id,
              label: fill(t.switchTo, { name: c.name }),
              leftSection: <IconBuilding size={18} stroke={1.7} />,
              onClick: () => void navigate({ to: "/", search: { company: c.id } }),
            })),
          {
            id: "theme",
            label: t.toggleTheme,
            keywords: "dark light",
            leftSection: <IconMoon size={18} stroke={1.7} />,
            onClick: () => set(shown === "dark" ? "light" : "dark"),
          },
          {
            id: "documentation",
            label: t.documentation,
            keywords: "docs help api reference guides",
            leftSection: <IconBook2 size={18} stroke={1.7} />,
            onClick: () => window.open("/docs", "_blank", "noopener"),
          },
          {
            id: "shortcuts",
            label: t.shortcuts,
            keywords: "keyboard help",
            leftSection: <IconKeyboard size={18} stroke={1.7} />,
            onClick: shortcuts,
          },
          {
            id: "sign-out",
            label: t.signOut,
            leftSection: <IconLogout size={18} stroke={1.7} />,
            onClick: () => void signOut(),
          },
        ],
      },
    ],
    [t, can, me, company, navigate, shown, set, shortcuts, text],
  );
  return (
    <Spotlight
      store={store}
      shortcut={null}
      query={query}
      onQueryChange={setQuery}
      actions={actions}
      nothingFound={t.nothing}
      scrollable
      yOffset="12vh"
      overlayProps={{ backgroundOpacity: 0.35, blur: 0 }}
      classNames={{ content: "palette" }}
      maxHeight={420}
      radius="lg"
      attributes={{ content: { "aria-label": t.find } }}
      searchProps={{
        leftSection: <IconSearch size={18} />,
        placeholder: t.palette,
        "aria-label": t.palette,
        autoFocus: true,
        onKeyDown: chooseFirst,
      }}
    />
  );
}
