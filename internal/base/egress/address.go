package egress

import (
	"net/netip"
	"slices"
)

// denied4 are the IPv4 blocks outside the public internet (IANA special-purpose registry), and the one metadata
// service at a public address.
var denied4 = prefixes( //nolint:gochecknoglobals // read-only table
	"0.0.0.0/8",        // this network, unspecified
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // carrier-grade NAT; contains the metadata address 100.100.100.200
	"127.0.0.0/8",      // loopback
	"168.63.129.16/32", // metadata
	"169.254.0.0/16",   // link-local; contains the metadata address 169.254.169.254
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // protocol assignments; contains the metadata address 192.0.0.192
	"192.0.2.0/24",     // documentation
	"192.88.99.0/24",   // 6to4 relays
	"192.168.0.0/16",   // private
	"198.18.0.0/15",    // benchmarks
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, broadcast
)

// denied6 are the blocks inside 2000::/3 that are not public. Everything outside 2000::/3 is denied, except for
// addresses that embed a public IPv4 address.
var denied6 = prefixes( //nolint:gochecknoglobals // read-only table
	"2001::/23",     // protocol assignments: Teredo, benchmarks, ORCHID
	"2001:db8::/32", // documentation
	"3fff::/20",     // documentation
)

var (
	global6 = netip.MustParsePrefix("2000::/3")     //nolint:gochecknoglobals // read-only
	sixTo4  = netip.MustParsePrefix("2002::/16")    //nolint:gochecknoglobals // read-only
	nat64   = netip.MustParsePrefix("64:ff9b::/96") //nolint:gochecknoglobals // read-only
)

// Public reports whether an address belongs to the public internet. An address that embeds an IPv4 address (mapped,
// NAT64, 6to4) is public if the embedded address is.
func Public(a netip.Addr) bool {
	a = a.Unmap()
	switch {
	case !a.IsValid() || a.Zone() != "":
		return false
	case a.Is4():
		return !contains(denied4, a)
	case nat64.Contains(a):
		return Public(embedded4(a, 12))
	case sixTo4.Contains(a):
		return Public(embedded4(a, 2))
	default:
		return global6.Contains(a) && !contains(denied6, a)
	}
}

// embedded4 returns the IPv4 address at a byte offset of a.
func embedded4(a netip.Addr, offset int) netip.Addr {
	b := a.As16()
	return netip.AddrFrom4([4]byte(b[offset : offset+4]))
}

func contains(ps []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(ps, func(p netip.Prefix) bool { return p.Contains(a) })
}

func prefixes(texts ...string) []netip.Prefix {
	ps := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		ps[i] = netip.MustParsePrefix(t)
	}
	return ps
}
