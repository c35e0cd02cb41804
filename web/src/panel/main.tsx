import "./styles";
import { MantineProvider } from "@mantine/core";
import { ModalsProvider } from "@mantine/modals";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { onDenied, onSignedOut } from "./api";
import { currentLanguage, subscribe, textsLoaded } from "./i18n";
import { calls, inbox } from "./live";
import { router } from "./router";
import { nextOf } from "./next";
import { meQuery, onOtherWindow, queries } from "./session";
import { FollowTheme, manager } from "./shell/theme";
import { cssVariablesResolver, theme } from "./theme";

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce; // where get-nonce, which locks the scrolling behind dialogs, looks

const nameLanguage = () => {
  document.documentElement.lang = currentLanguage();
};
nameLanguage();
subscribe(nameLanguage);

// The session may end anywhere: another window, a changed password, an administrator.
const leave = () => {
  if (!queries.getQueryData(meQuery.queryKey)) return;
  queries.clear();
  queries.setQueryData(meQuery.queryKey, null);
  void router.navigate({ to: "/sign-in", search: { next: nextOf(router.state.location.href) } });
};
onSignedOut(leave);
onOtherWindow(leave);

onDenied(() => void queries.invalidateQueries(meQuery));

// Another company has other conversations and calls.
let company: string | undefined;
router.subscribe("onResolved", () => {
  const now = (router.state.location.search as { company?: string }).company;
  if (company !== now && company !== undefined) for (const stream of [inbox, calls]) stream.restart();
  company = now;
});

void queries.prefetchQuery(meQuery); // while the texts are loaded
const root = document.getElementById("root")!;
textsLoaded().then(
  () =>
    createRoot(root).render(
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariablesResolver}
        defaultColorScheme="auto"
        colorSchemeManager={manager()}
        getStyleNonce={() => nonce}
      >
        <FollowTheme />
        <QueryClientProvider client={queries}>
          <ModalsProvider>
            <Notifications position="bottom-right" limit={4} containerWidth={360} zIndex={250} />{" "}
            {/* above dialogs, below menus: an open menu is what is being used */}
            <RouterProvider router={router} />
          </ModalsProvider>
        </QueryClientProvider>
      </MantineProvider>,
    ),
  () => root.replaceChildren("Carillon couldn’t be loaded. Check your connection and reload the page."),
);
