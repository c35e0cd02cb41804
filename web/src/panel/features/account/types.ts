export interface Session {
  id: string;
  created_at: string;
  used_at: string;
  expires_at: string;
  address: string;
  agent: string;
  current: boolean;
}
