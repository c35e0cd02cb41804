// Who is signed in, and to what.
export type Role = "owner" | "admin" | "developer" | "marketer" | "teammate" | "viewer";

export const roles: Role[] = ["owner", "admin", "developer", "marketer", "teammate", "viewer"];

export interface Company {
  id: string;
  name: string;
  role: Role;
  permissions: string[];
  suspended: boolean;
}

export interface Me {
  account: { id: string; email: string; name: string };
  companies: Company[];
  first: boolean;
}
