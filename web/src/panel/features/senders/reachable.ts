/** reachable reports whether the internet can reach an address: https, and no name or network of this machine or its site. */
export function reachable(address: string): boolean {
  const { protocol, hostname: host } = new URL(address);
  if (protocol !== "https:") return false;
  if (host.startsWith("[")) return !/^\[(::1?\]|f[cde])/.test(host);
  if (!host.includes(".") || /\.(localhost|local|internal)$/.test(host)) return false;
  return !/^(0|10|127|169\.254|172\.(1[6-9]|2\d|3[01])|192\.168)\.[\d.]+$/.test(host);
}
