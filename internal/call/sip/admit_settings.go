package sip

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"carillon"
)

// maxAdmit limits the lookup of a trunk's name.
const maxAdmit = 5 * time.Second

// AdmitSettings returns a check of the trunk of a line that a member of the company sets up.
func AdmitSettings(allowed []netip.Prefix) func(context.Context, json.RawMessage) error {
	return func(ctx context.Context, settings json.RawMessage) error {
		const field = "settings.trunk"
		trunk, err := TrunkOf(settings)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, maxAdmit)
		defer cancel()
		switch err := Admit(ctx, trunk, allowed); {
		case errors.Is(err, ErrDenied):
			return carillon.Invalid(field, "Must be at a public address; the setting sip-allow-private names private networks that "+
				"are allowed too")
		case err != nil:
			return carillon.Invalid(field, "This name has no address")
		}
		return nil
	}
}

// Meet reports whether two lines have the same trunk.
func Meet(ctx context.Context, one, other json.RawMessage) bool {
	a, errA := TrunkOf(one)
	b, errB := TrunkOf(other)
	ctx, cancel := context.WithTimeout(ctx, maxAdmit)
	defer cancel()
	return errA == nil && errB == nil && SameTrunk(ctx, a, b)
}

// Files returns the TLS configuration of this node for calls: its certificate, and trust in the machine's authorities.
func Files(certificate, key string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if certificate == "" {
		return c, nil
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate for SIP over TLS: %w", err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}
