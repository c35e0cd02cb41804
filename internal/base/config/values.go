package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon"
)

// one sets a field from a single value; if a flag is repeated, from the last.
func one[T any](read func(string) (T, error), field func(*Config) *T) func(*Config, []string) error {
	return func(c *Config, values []string) error {
		v, err := read(values[len(values)-1])
		if err != nil {
			return err
		}
		*field(c) = v
		return nil
	}
}

// many sets a field from all values.
func many[T any](read func(string) (T, error), field func(*Config) *[]T) func(*Config, []string) error {
	return func(c *Config, values []string) error {
		var all []T
		for _, value := range values {
			v, err := read(value)
			if err != nil {
				return err
			}
			all = append(all, v)
		}
		*field(c) = all
		return nil
	}
}

func text(s string) (string, error) {
	if strings.ContainsRune(s, 0) {
		return "", errors.New("holds a zero byte")
	}
	return s, nil
}

func boolean(s string) (bool, error) {
	switch s {
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", s)
}

func whole(least, most int) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return 0, fmt.Errorf("%q is not a whole number from %d to %d", s, least, most)
		}
		return n, nil
	}
}

func cellNumber(s string) (*int, error) {
	cell, err := whole(0, carillon.Cells-1)(s)
	return &cell, err
}

func duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > 24*time.Hour {
		return 0, fmt.Errorf("%q is not a duration such as 25s or 2m, at most 24h", s)
	}
	return d, nil
}

func oneOf(words ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", fmt.Errorf("%q is not one of %s", s, strings.Join(words, ", "))
		}
		return s, nil
	}
}

func level(s string) (slog.Level, error) {
	var l slog.Level
	if _, err := oneOf("debug", "info", "warn", "error")(s); err != nil {
		return l, err
	}
	err := l.UnmarshalText([]byte(s))
	return l, err
}

func address(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return "", fmt.Errorf("%q is not of the form host:port", s)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return "", fmt.Errorf("%q has no port from 0 to 65535", s)
	}
	if strings.ContainsAny(host, "/ @") {
		return "", fmt.Errorf("%q is not of the form host:port", s)
	}
	return s, nil
}

func baseURL(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", errors.New("is not an http or https address such as https://carillon.example.com")
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return "", errors.New("must have no user, query or fragment")
	}
	return strings.TrimRight(s, "/"), nil
}

// issuer reads a URL and returns it unchanged, because a trailing slash is part of an issuer.
func issuer(s string) (string, error) {
	_, err := baseURL(s)
	return s, err
}

// siteURL reads the URL of one of the program's own hosts. It has no path, because pages and routes begin at the root.
func siteURL(s string) (string, error) {
	address, err := baseURL(s)
	if u, parsed := url.Parse(address); err == nil && (parsed != nil || u.Path != "") {
		return "", errors.New("must have no path: give the program a host name of its own, such as https://carillon.example.com")
	}
	return address, err
}

// secret reads a secret. Its errors do not contain the value.
func secret(s string) (Secret, error) {
	checked, err := text(s)
	return Secret(checked), err
}

// digits reads an id that consists of digits.
func digits(s string) (string, error) {
	if len(s) > 32 || strings.Trim(s, "0123456789") != "" {
		return "", errors.New("must be an id of up to 32 digits")
	}
	return s, nil
}

// metaSecret reads the secret of an app at Meta. Its errors do not contain the value.
func metaSecret(s string) (Secret, error) {
	if len(s) > 128 || strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", errors.New("must be printable ASCII without spaces, up to 128 characters (not shown)")
	}
	return Secret(s), nil
}

func databaseURL(s string) (Secret, error) {
	if s == "" {
		return "", nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return "", errors.New("is not of the form postgres://user:password@host/name (not shown: it may hold a password)")
	}
	return Secret(s), nil
}

// natsURL reads the URLs of NATS servers, separated by commas. Its errors do not contain the value, which may contain a
// password.
func natsURL(s string) (Secret, error) {
	if s == "" {
		return "", nil
	}
	for one := range strings.SplitSeq(s, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil || u.Scheme != "nats" && u.Scheme != "tls" || u.Hostname() == "" || u.Path+u.RawQuery+u.Fragment != "" {
			return "", errors.New("is not of the form tls://user:password@host:4222 or nats://…, with commas between several " +
				"(not shown: it may hold a password)")
		}
	}
	return Secret(s), nil
}

// smtpURL reads the URL of a mail server. Its errors do not contain the value, which may contain a password.
func smtpURL(s string) (Secret, error) {
	if s == "" {
		return "", nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" {
		return "", errors.New("is not of the form smtp://user:password@host:587 or smtps://… (not shown: it may hold a password)")
	}
	return Secret(s), nil
}

func mailbox(s string) (string, error) {
	if _, err := mail.ParseAddress(s); err != nil {
		return "", fmt.Errorf("%q is not of the form Carillon <carillon@example.com>", s)
	}
	return s, nil
}

// prefix reads a network; a single address becomes a network of one address.
func prefix(s string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is not a network such as 10.0.0.0/8", s)
	}
	return p.Masked(), nil
}

func ip(s string) (netip.Addr, error) {
	if s == "" {
		return netip.Addr{}, nil
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return a, errors.New("must be an address such as 203.0.113.7")
	}
	return a, nil
}

// portRange reads two ports, the lowest and the highest.
func portRange(s string) (ports [2]uint16, err error) {
	if s == "" {
		return ports, nil
	}
	low, high, ok := strings.Cut(s, "-")
	for i, p := range []string{low, high} {
		n, err := strconv.ParseUint(strings.TrimSpace(p), 10, 16)
		if err != nil || n < 1024 {
			ok = false
		}
		ports[i] = uint16(n)
	}
	if !ok || ports[1] < ports[0]+3 {
		return [2]uint16{}, errors.New("must be two ports from 1024 on, such as 10000-19999")
	}
	return ports, nil
}
