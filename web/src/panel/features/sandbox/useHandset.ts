import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { get, post, put } from "../../api";
import { useCompany } from "../../session";
import { numberIn } from "../../ui/number";

/** Written is what somebody does on the phone. */
export interface Written {
  kind: "text" | "choice" | "reaction" | "file" | "contact";
  text?: string;
  payload?: string;
  reply_to?: string;
  file?: string;
  name?: string;
}

/** phoneIn is the phone that a text names: a number, or @ and the username of somebody who hides theirs; "": none. */
export const phoneIn = (s: string): string => (/^@[A-Za-z0-9._]{1,30}$/.test(s.trim()) ? s.trim() : numberIn(s));

/** useNumbers is the sandbox's senders, and whom one of them wrote to last. */
export function useNumbers(sender: string, every: number | false = 10_000) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "handset", "numbers", sender],
    placeholderData: keepPreviousData,
    refetchInterval: every,
    queryFn: ({ signal }) => get("/sandbox/phone/numbers", { sender }, signal),
  });
}

/** useHandset is a phone as its owner sees it, asked for every second while it is shown. */
export function useHandset(sender: string, number: string) {
  const company = useCompany();
  return useQuery({
    queryKey: [company.id, "handset", sender, number],
    enabled: !!sender && !!phoneIn(number),
    refetchInterval: 1_000,
    queryFn: ({ signal }) => get("/sandbox/phone", { sender, number }, signal),
  });
}

export function useHandsetActions(sender: string, number: string) {
  const company = useCompany();
  const client = useQueryClient();
  const again = () => client.invalidateQueries({ queryKey: [company.id, "handset", sender, number] });
  return {
    write: async (w: Written) => {
      await post("/sandbox/phone/messages", {
        ...w,
        sender,
        number,
        client_id: crypto.randomUUID?.() ?? String(Math.random()).slice(2),
      });
      await again();
    },
    setReachable: async (yes: boolean) => {
      await put("/sandbox/phone", { sender, number, unreachable: !yes });
      await again();
    },
  };
}
