package egress

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"carillon/internal/base/cache"
	"carillon/internal/base/share"
)

// MediaError is a definite rejection of a media address: another check soon will not help. Any other error of Check is
// temporary. Reason contains neither the path nor the query of the address.
type MediaError struct{ Reason string }

// Error returns a text that is safe to log and to show.
func (e *MediaError) Error() string { return "media rejected: " + e.Reason }

// How long verdicts are cached. A temporary fault is cached just long enough to keep a hundred recipients of one file
// from causing a hundred probes. The caller's retries come later than that.
const (
	keepFit      = 10 * time.Minute
	keepRejected = time.Minute
	keepFault    = 2 * time.Second

	maxVerdicts  = 4096
	defaultCheck = 20 * time.Second
	maxURL       = 8 << 10
	magicBytes   = 512 // the first bytes of a file, which identify its type
)

// Prober decides whether the file at an address fits a template header.
type Prober struct {
	c        *Client
	verdicts *cache.Cache[verdict]
	places   *share.Share // limits the probes in flight
}

// verdict is the result of a probe: nil, a *MediaError or a temporary fault.
type verdict struct {
	err   error
	until time.Time
}

// CheckMedia checks whether a file fits headers of a format. rejected distinguishes a definite rejection from a
// temporary failure.
func (p *Prober) CheckMedia(ctx context.Context, companyID, format, url string) (rejected bool, err error) {
	kind, ok := KindOf(format)
	if !ok {
		return false, nil
	}
	err = p.Check(ctx, companyID, kind, url)
	var bad *MediaError
	return errors.As(err, &bad), err
}

// NewProber returns a prober. Options.Timeout bounds a complete check (0: 20 s). Options.MaxBody is ignored, because
// the kind of media determines how much is read. Media must use HTTPS even if AllowPrivate matches. Without shares the
// prober has its own.
func NewProber(o Options, shares *share.Set) *Prober {
	timeout := cmp.Or(o.Timeout, defaultCheck)
	o.Timeout, o.MaxBody = timeout, -1
	c := New(o)
	c.gate.httpsOnly = true
	return &Prober{
		c: c, verdicts: cache.New[verdict](maxVerdicts, timeout),
		places: shares.Of(share.MediaChecks),
	}
}

// Close closes idle connections.
func (p *Prober) Close() { p.c.Close() }

// Check probes the type and size of a file and the duration of a video. It returns nil if the file fits, a *MediaError
// if it does not, and any other error if the fault is temporary. Verdicts are cached. At most one probe of an address
// is in flight, and only a few per company; further probes of the company wait.
func (p *Prober) Check(ctx context.Context, companyID string, kind Kind, address string) error {
	if err := checkAddress(address); err != nil {
		return err
	}
	digest := sha256.Sum256([]byte(address)) // addresses are long and contain credentials
	key := string(append(digest[:], byte(kind)))
	return p.cached(ctx, key, func(ctx context.Context) error {
		place, err := p.places.Wait(ctx, share.Holder{Company: companyID})
		if err != nil {
			return fmt.Errorf("wait to check media: %w", err)
		}
		defer place.Release()
		return p.probe(ctx, kind, address)
	})
}

func (p *Prober) cached(ctx context.Context, key string, probe func(context.Context) error) error {
	if v, ok := p.verdicts.Peek(key); ok && !time.Now().Before(v.until) {
		p.verdicts.Remove(key)
	}
	v, err := p.verdicts.Get(ctx, key, func(ctx context.Context) (verdict, string, error) {
		err := probe(ctx)
		return verdict{err, time.Now().Add(keepFor(err))}, "media", nil
	})
	if err != nil {
		return err // the caller's own context ended
	}
	return v.err
}

func keepFor(err error) time.Duration {
	var rejected *MediaError
	switch {
	case err == nil:
		return keepFit
	case errors.As(err, &rejected):
		return keepRejected
	default:
		return keepFault
	}
}

func checkAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || len(address) > maxURL:
		return &MediaError{Reason: "the address cannot be read"}
	case u.Scheme != "https":
		return &MediaError{Reason: "the address is not HTTPS"}
	case u.User != nil:
		return &MediaError{Reason: "the address carries credentials"}
	}
	return nil
}

// probe fetches the file's first bytes with a ranged GET. It sends no HEAD: servers that do not support HEAD, or sign
// addresses for GET only, respond in many different ways.
func (p *Prober) probe(ctx context.Context, kind Kind, address string) error {
	r := &remote{ctx: ctx, c: p.c, url: address, piece: magicBytes, limit: kinds[kind].maxSize, size: -1}
	if kind == Video {
		r.piece = pieceSize
	}
	err := inspect(r, kind)
	if errors.Is(err, errScattered) {
		return &MediaError{Reason: "the file comes in too many pieces"}
	}
	return err
}

// inspect judges the file itself.
func inspect(r *remote, kind Kind) error {
	head := make([]byte, magicBytes)
	n, err := r.ReadAt(head, 0)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case r.size > r.limit:
		return tooLarge(kind)
	case n == 0:
		return &MediaError{Reason: "the file is empty"}
	}
	if err := checkType(kind, r.kind, head[:n]); err != nil {
		return err
	}
	if kind == Video {
		if err := checkLength(r); err != nil {
			return err
		}
	}
	if fits, err := r.fits(); err != nil || fits {
		return err
	}
	return tooLarge(kind)
}

func tooLarge(kind Kind) *MediaError {
	return &MediaError{Reason: fmt.Sprintf("the file is larger than the %d MB of a header %s", kinds[kind].maxSize>>20, kind)}
}

// checkType judges by the Content-Type if it is specific, else by the first bytes. A video is read in any case, so its
// bytes decide.
func checkType(kind Kind, contentType string, head []byte) error {
	fit, unsure := kind.fits(contentType)
	if kind != Video && fit || (fit || unsure) && kinds[kind].magic(head) {
		return nil
	}
	return &MediaError{Reason: fmt.Sprintf("the file is no %s of type %s", kind, kinds[kind].types)}
}

func checkLength(f io.ReaderAt) error {
	length, err := videoLength(f)
	switch {
	case errors.Is(err, errNoLength), errors.Is(err, errScattered), errors.Is(err, errFetched):
		return nil
	case err != nil:
		return err
	case length > maxLength:
		return &MediaError{Reason: fmt.Sprintf("the video is longer than %d s", int(maxLength.Seconds()))}
	}
	return nil
}

// judge turns definite faults, which the channel would also encounter, into a *MediaError. Other errors are temporary.
func judge(err error) error {
	var denied *DeniedError
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &denied):
		return &MediaError{Reason: denied.Reason}
	case errors.As(err, &dns) && dns.IsNotFound:
		return &MediaError{Reason: "the host does not exist"}
	case errors.As(err, &cert):
		return &MediaError{Reason: "the host's certificate is not valid"}
	default:
		return err
	}
}

// statusError judges an unsuccessful status: some are temporary, the others rejections.
func statusError(status int) error {
	switch {
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		return fmt.Errorf("fetch media: status %d", status)
	default:
		return &MediaError{Reason: fmt.Sprintf("the address responds with %d", status)}
	}
}
