// Where at Meta each item of a check is set.
import type { Finding } from "./types";

/** Ids are the ids at Meta that are known of a sender. */
export interface Ids {
  app?: string;
  waba?: string;
}

/** idsOf are the ids in a sender's settings and in what a check found. */
export function idsOf(wabaID: string | undefined, findings: Finding[] | undefined): Ids {
  const app = findings?.find((f) => f.values?.app)?.values?.app;
  return { app: digits(app), waba: digits(wabaID) };
}

function digits(id: string | undefined): string | undefined {
  return id && /^\d{1,32}$/.test(id) ? id : undefined;
}

/** whereOf is the address of the page at Meta where an item is set; undefined where there is none. */
export function whereOf(item: string, { app, waba }: Ids): string | undefined {
  const inApp = (page: string) => `https://developers.facebook.com/apps/${app ? `${app}/${page}/` : ""}`;
  const inManager = (page: string) =>
    `https://business.facebook.com/wa/manage/${page}/${waba ? `?waba_id=${waba}` : ""}`;
  switch (item) {
    case "token":
      return "https://business.facebook.com/settings/system-users";
    case "phone_number_id":
      return inApp("whatsapp-business/wa-dev-console");
    case "app_secret":
      return inApp("settings/basic");
    case "callback":
    case "subscription":
      return inApp("whatsapp-business/wa-settings");
    case "waba_id":
      return "https://business.facebook.com/settings/whatsapp-business-accounts";
    case "number":
    case "registration":
    case "name":
    case "quality":
      return inManager("phone-numbers");
    case "limit":
    case "templates":
      return inManager("home");
    case "version":
      return "https://developers.facebook.com/docs/graph-api/changelog";
    default:
      return undefined;
  }
}
