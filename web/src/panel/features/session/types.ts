// Who is signed in, and to what.
import type { Schemas } from "../../api";
export type Role = "owner" | "admin" | "developer" | "marketer" | "teammate" | "viewer";

export const roles: Role[] = ["owner", "admin", "developer", "marketer", "teammate", "viewer"];

export type Company = Schemas["AccountMeCompany"];

export type Me = Schemas["AccountMe"];
