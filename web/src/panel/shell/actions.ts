import { del } from "../api";
import { queries } from "../session";
import { failed } from "../ui/problem";

/** signOut ends the session and leaves nothing of it on the screen or in memory. */
export async function signOut(): Promise<void> {
  try {
    await del("/session");
  } catch (e) {
    failed(e);
    return;
  }
  queries.clear();
  location.assign("/panel/sign-in");
}
