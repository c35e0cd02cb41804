import type { Role } from "../session/types";

export interface User {
  id: string;
  email: string;
  name: string;
  role: Role;
  last_sign_in_at: string | null;
  created_at: string;
  second_factor: boolean;
}
