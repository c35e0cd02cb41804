package httpio

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// ClientAddress is the socket's peer, or the last address of X-Forwarded-For that is not a trusted proxy when the peer
// is one (docs/reference/errors.md).
func ClientAddress(r *http.Request, trusted []netip.Prefix) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if len(trusted) == 0 || !among(host, trusted) {
		return host
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		hop := strings.TrimSpace(hop)
		if _, err := netip.ParseAddr(hop); err != nil {
			return host
		}
		host = hop
		if !among(hop, trusted) {
			break
		}
	}
	return host
}

func among(address string, prefixes []netip.Prefix) bool {
	a, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(a.Unmap()) })
}
