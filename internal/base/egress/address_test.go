package egress

import (
	"net/netip"
	"testing"
)

func TestPublicKnowsEveryReservedBlock(t *testing.T) {
	for _, c := range []struct {
		addr string
		want bool
	}{
		{"1.1.1.1", true},
		{"93.184.216.34", true},
		{"172.32.0.1", true},
		{"100.128.0.1", true},
		{"2606:2800:220:1::1", true},
		{"::ffff:1.1.1.1", true},
		{"64:ff9b::1.1.1.1", true},
		{"2002:101:101::1", true},

		{"0.0.0.0", false},
		{"10.0.0.1", false},
		{"100.64.0.1", false},
		{"100.100.100.200", false},
		{"127.0.0.1", false},
		{"127.255.255.254", false},
		{"168.63.129.16", false},
		{"169.254.169.254", false},
		{"172.16.0.1", false},
		{"172.31.255.255", false},
		{"192.0.0.192", false},
		{"192.0.2.1", false},
		{"192.88.99.1", false},
		{"192.168.1.1", false},
		{"198.19.255.255", false},
		{"198.51.100.7", false},
		{"203.0.113.9", false},
		{"224.0.0.1", false},
		{"240.0.0.1", false},
		{"255.255.255.255", false},
		{"::", false},
		{"::1", false},
		{"::127.0.0.1", false},
		{"::ffff:127.0.0.1", false},
		{"::ffff:169.254.169.254", false},
		{"64:ff9b::10.0.0.1", false},
		{"64:ff9b::169.254.169.254", false},
		{"64:ff9b:1::1.1.1.1", false},
		{"100::1", false},
		{"2001::1", false},
		{"2001:2::1", false},
		{"2001:db8::1", false},
		{"2002:7f00:1::1", false},
		{"2002:a00:1::1", false},
		{"3fff::1", false},
		{"5f00::1", false},
		{"fc00::1", false},
		{"fd00:ec2::254", false},
		{"fe80::1", false},
		{"fec0::1", false},
		{"ff02::1", false},
		{"2606:2800:220:1::1%eth0", false},
	} {
		if got := Public(netip.MustParseAddr(c.addr)); got != c.want {
			t.Errorf("Public(%s) = %v", c.addr, got)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("the zero address is public")
	}
}
