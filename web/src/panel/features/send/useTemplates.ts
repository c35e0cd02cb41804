import { useQuery } from "@tanstack/react-query";
import { get, type Page } from "../../api";
import { useCompany } from "../../session";
import type { Template } from "./types";

/** useTemplates are the templates of all senders of the company. */
export function useTemplates() {
  const company = useCompany();
  return useQuery({ queryKey: [company.id, "send", "templates"], queryFn: ({ signal }) => get<Page<Template>>("/templates", {}, signal), select: (p) => p.data });
}
