package sip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"carillon/internal/base/egress"
	"carillon/internal/call/rtp"
)

// ErrDenied means that a trunk with Trunk.Public is not at a public address.
var ErrDenied = errors.New("the trunk is at a private or reserved address")

// Admit checks that a line may call its trunk: with Trunk.Public, the trunk must be at a public address or in allowed.
// Errors: ErrDenied; ErrUnreachable for an unknown name.
func Admit(ctx context.Context, t Trunk, allowed []netip.Prefix) error {
	if !t.Public {
		return nil
	}
	_, err := admit(ctx, t, allowed)
	return err
}

// way is the location of a trunk.
type way struct {
	// destination is the address to which the trunk's requests are sent. It is empty over TLS: there the host name is
	// used, and the certificate check rejects any other host.
	destination string
	addresses   []netip.Addr // of the trunk
}

// admit is like Admit, and returns the checked address, which is then called, so it cannot change in between.
func admit(ctx context.Context, t Trunk, allowed []netip.Prefix) (way, error) {
	ctx, cancel := context.WithTimeout(ctx, unreachableAfter)
	defer cancel()
	all, err := lookUp(ctx, t)
	if err != nil {
		return way{}, errors.Join(ErrUnreachable, err)
	}
	w := way{destination: all[0].String()}
	for _, a := range all { // one bad address denies the trunk, since any of its addresses may be called
		if t.Public && !admits(a.Addr(), allowed) {
			return way{}, ErrDenied
		}
		w.addresses = append(w.addresses, a.Addr().Unmap())
	}
	if t.Transport == "tls" {
		w.destination = ""
	}
	return w, nil
}

// admits reports whether a trunk with Trunk.Public may have an address.
func admits(a netip.Addr, allowed []netip.Prefix) bool {
	return egress.Public(a) || slices.ContainsFunc(allowed, func(p netip.Prefix) bool { return p.Contains(a.Unmap()) })
}

// Name returns the host of a trunk without its port.
func (t *Trunk) Name() string {
	host := t.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// SameTrunk reports whether two trunks are the same, by their names or by a common address.
func SameTrunk(ctx context.Context, a, b Trunk) bool {
	if a.Name() == b.Name() {
		return true
	}
	one, err := lookUp(ctx, a)
	if err != nil {
		return false
	}
	other, err := lookUp(ctx, b)
	return err == nil && slices.ContainsFunc(one, func(x netip.AddrPort) bool {
		return slices.ContainsFunc(other, func(y netip.AddrPort) bool { return x.Addr() == y.Addr() })
	})
}

// soundAt returns the destination of a call's sound. If invalid, it is the source of the far side's sound, once that
// arrives. With Trunk.Public, no sound goes to an address that the trunk may not have.
func (d *dialog) soundAt(far *description) netip.AddrPort {
	to := far.remote()
	if to.Addr().IsUnspecified() || d.confined && !admits(to.Addr(), d.e.o.AllowPrivate) {
		return netip.AddrPort{}
	}
	return to
}

// farOf returns the far side's location from a description that came from an address.
func (d *dialog) farOf(far *description, source string) rtp.Far {
	f := rtp.Far{Sound: d.soundAt(far), Version: far.version}
	if from, err := netip.ParseAddrPort(source); err == nil {
		f.Peer = from.Addr()
	}
	return f
}

// lookUp returns the addresses of a trunk, at least one: those of its host, or of the servers in its domain's records
// (RFC 3263).
func lookUp(ctx context.Context, t Trunk) ([]netip.AddrPort, error) {
	host, port := t.Host, uint16(5060)
	if t.Transport == "tls" {
		port = 5061
	}
	if h, p, err := net.SplitHostPort(t.Host); err == nil {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("the port of the trunk %q: %w", t.Host, err)
		}
		host, port = h, uint16(n)
	}
	all, err := addresses(ctx, strings.Trim(host, "[]"), port)
	if err == nil || host != t.Host {
		return all, err
	}
	service, proto := "sip", t.Transport
	if proto == "tls" {
		service, proto = "sips", "tcp"
	}
	_, servers, none := net.DefaultResolver.LookupSRV(ctx, service, proto, host)
	if none != nil || len(servers) == 0 {
		return nil, err
	}
	all, err = nil, nil
	for _, s := range servers[:min(len(servers), maxServers)] {
		some, fault := addresses(ctx, s.Target, s.Port)
		all, err = append(all, some...), errors.Join(err, fault)
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, err
}

const maxServers = 8 // in a domain's records

func addresses(ctx context.Context, host string, port uint16) (all []netip.AddrPort, err error) {
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err == nil && len(found) == 0 {
		err = &net.DNSError{Err: "no addresses", Name: host, IsNotFound: true}
	}
	if err != nil {
		return nil, fmt.Errorf("look up the trunk: %w", err)
	}
	for _, a := range found {
		if a.Unmap().Is4() { // first, since most networks have IPv4
			all = append(all, netip.AddrPortFrom(a.Unmap(), port))
		}
	}
	for _, a := range found {
		if !a.Unmap().Is4() {
			all = append(all, netip.AddrPortFrom(a, port))
		}
	}
	return all, nil
}
