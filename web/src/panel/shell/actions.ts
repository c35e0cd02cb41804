import { del } from "../api";
import { forget } from "../features/notices/push";
import { queries, endElsewhere } from "../session";
import { failed } from "../ui/problem";

const patience = 2000; // with the browser's push service, in milliseconds

/** signOut ends the session in all windows, and leaves nothing of it on the screen, in memory, or as a push subscription. */
export async function signOut(): Promise<void> {
  try {
    await del("/session");
  } catch (e) {
    failed(e);
    return;
  }
  queries.clear();
  endElsewhere();
  // The server has dropped the subscription with the session: what fails here sends nothing.
  await Promise.race([forget().catch(() => undefined), new Promise((done) => setTimeout(done, patience))]);
  location.assign("/panel/sign-in");
}
