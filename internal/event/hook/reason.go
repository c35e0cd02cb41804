package hook

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"carillon"
	"carillon/internal/base/egress"
)

// certificateNames bounds the names quoted from a certificate.
const certificateNames = 3

// reason returns the reason why there was no good response, without the URL, whose query may contain a secret.
func reason(err error) string {
	if denied, ok := errors.AsType[*egress.DeniedError](err); ok {
		return "Its address may not be reached: " + denied.Reason + "; --media-allow-private names networks that may be"
	}
	text := certificate(err)
	switch {
	case text != "":
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"): // it has no error type
		text = "it speaks HTTP on this port, not HTTPS: give another port, or turn encryption on there"
	case unknownHost(err) != "": // the error also names our resolver
		text = unknownHost(err)
	case errors.Is(err, io.EOF):
		text = "it closed the connection without a response"
	default:
		text = strings.TrimPrefix(err.Error(), "send request: ")
	}
	// The text may quote data from the other side of any length and with any bytes, such as names in its certificate.
	text = shorten([]byte(text), keptReason)
	if text == "" {
		return "No response"
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// unknownHost returns the fault of a host name without an address, or "".
func unknownHost(err error) string {
	x, ok := errors.AsType[*net.DNSError](err)
	switch {
	case !ok:
		return ""
	case x.IsNotFound:
		return "its host " + x.Name + " does not exist: check the address"
	}
	return "its host " + x.Name + " can't be looked up: the name servers do not respond"
}

// certificate returns the fault of an endpoint's certificate, or "" if there is none or a rare one.
func certificate(err error) string {
	if x, ok := errors.AsType[x509.CertificateInvalidError](err); ok && x.Reason == x509.Expired && x.Cert != nil {
		if time.Now().Before(x.Cert.NotBefore) {
			return "its certificate is valid only from " + carillon.FormatTime(x.Cert.NotBefore) +
				" on: correct the clock, or use another certificate"
		}
		return "its certificate expired at " + carillon.FormatTime(x.Cert.NotAfter) + ": renew it"
	}
	if x, ok := errors.AsType[x509.HostnameError](err); ok {
		names := slices.Clone(x.Certificate.DNSNames)
		for _, ip := range x.Certificate.IPAddresses {
			names = append(names, ip.String())
		}
		if len(names) == 0 {
			return "its certificate is not for " + x.Host + ": use one that names this host"
		}
		return "its certificate is not for " + x.Host + ", but for " +
			strings.Join(names[:min(len(names), certificateNames)], ", ") + ": use one that names this host"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); !ok {
		return ""
	}
	if x, ok := errors.AsType[*tls.CertificateVerificationError](err); ok && len(x.UnverifiedCertificates) > 0 &&
		bytes.Equal(x.UnverifiedCertificates[0].RawIssuer, x.UnverifiedCertificates[0].RawSubject) {
		return "its certificate is self-signed: use one of an authority that this machine trusts"
	}
	return "its certificate is not of an authority that this machine trusts: use one of such an authority, and send the whole chain"
}
