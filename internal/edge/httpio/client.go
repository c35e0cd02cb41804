package httpio

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"carillon/internal/base/share"
)

// ClientAddress returns the socket's peer. If the peer is a trusted proxy, it returns the last address of
// X-Forwarded-For that is not one (docs/reference/errors.md).
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

// ClientNetwork returns ClientAddress without the part that one client can vary: an IPv6 customer can use any address
// of a /64.
func ClientNetwork(r *http.Request, trusted []netip.Prefix) string {
	return share.Network(ClientAddress(r, trusted))
}

func among(address string, prefixes []netip.Prefix) bool {
	a, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(a.Unmap()) })
}
