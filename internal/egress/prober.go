package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// MediaError is a definite rejection of a media address: asking again soon will not help. Any other error of Check is a
// passing fault. Reason holds neither path nor query of the address.
type MediaError struct{ Reason string }

// Error is safe to log and to show.
func (e *MediaError) Error() string { return "media rejected: " + e.Reason }

// How long answers are kept. A passing fault is kept just long enough that a hundred recipients of one file do not ask
// a hundred times; the caller's retries come later than that.
const (
	keepFit      = 10 * time.Minute
	keepRejected = time.Minute
	keepFault    = 2 * time.Second

	defaultEntries = 4096
	defaultCheck   = 20 * time.Second
	headTimeout    = 5 * time.Second
	maxURL         = 8 << 10
	magicBytes     = 512 // of a file tell its type
)

// Prober tells whether the file at an address fits a template header.
type Prober struct {
	c       *Client
	answers *cache
	timeout time.Duration
}

// NewProber makes a prober; of the options, Timeout bounds a whole check (0: 20 s) and MaxBody does not count: how much
// is read follows from the kind. Media is HTTPS whatever AllowPrivate says (interface.md, Template components).
func NewProber(o Options) *Prober {
	timeout := orDefault(o.Timeout, defaultCheck)
	o.Timeout, o.MaxBody = timeout, -1
	c := New(o)
	c.gate.httpsOnly = true
	return &Prober{c: c, answers: newCache(defaultEntries), timeout: timeout}
}

// Close closes the idle connections.
func (p *Prober) Close() { p.c.Close() }

// Check asks for the file's type, size and, of a video, length. The error is nil when it fits, a *MediaError when it
// does not, else a passing fault. Answers are kept; at most one question about an address is under way.
func (p *Prober) Check(ctx context.Context, kind Kind, address string) error {
	if err := checkAddress(address); err != nil {
		return err
	}
	return p.answers.do(ctx, keyOf(kind, address), func() (time.Duration, error) {
		ctx, cancel := context.WithTimeout(ctx, p.timeout)
		defer cancel()
		err := p.probe(ctx, kind, address)
		return keepFor(err), err
	})
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

// probe lets a HEAD accept, and never reject: servers that do not know it, or sign addresses for GET alone, answer it in
// all manner of ways. What it cannot accept, a ranged GET decides.
func (p *Prober) probe(ctx context.Context, kind Kind, address string) error {
	if kind != Video { // a video's length needs the file in any case
		ok, err := p.head(ctx, kind, address)
		if ok || err != nil {
			return err
		}
	}
	limit := kinds[kind].maxSize
	r := &remote{ctx: ctx, c: p.c, url: address, want: magicBytes, limit: limit, most: &MediaError{
		Reason: fmt.Sprintf("the file is larger than the %d MB of a header %s", limit>>20, kind),
	}}
	if kind == Video {
		r.want = chunk
	}
	defer r.close()
	err := r.open()
	if err == nil {
		err = inspect(r, kind)
	}
	if errors.Is(err, errScattered) {
		return &MediaError{Reason: "the file comes in too many pieces"}
	}
	return err
}

// head tells whether the answer to a HEAD is enough to accept the file. Its only error is a denied address, which a GET
// would not mend.
func (p *Prober) head(ctx context.Context, kind Kind, address string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, headTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return false, &MediaError{Reason: "the address cannot be read"}
	}
	resp, err := p.c.Do(req)
	if err != nil {
		var rejected *MediaError
		if err = judge(err); errors.As(err, &rejected) {
			return false, err
		}
		return false, nil
	}
	_ = resp.Body.Close()
	fit, _ := kind.fits(resp.Header.Get("Content-Type"))
	size := resp.ContentLength
	return resp.StatusCode == http.StatusOK && fit && size > 0 && size <= kinds[kind].maxSize, nil
}

// inspect judges the file itself.
func inspect(r *remote, kind Kind) error {
	if r.size > r.limit {
		return r.most
	}
	head := make([]byte, magicBytes)
	n, err := io.ReadFull(r, head)
	if err != nil && !ended(err) {
		return err
	}
	if head = head[:n]; n == 0 {
		return &MediaError{Reason: "the file is empty"}
	}
	if err := checkType(kind, r.kind, head); err != nil {
		return err
	}
	if kind == Video {
		if err := checkLength(&rewound{head: head, stream: r}); err != nil {
			return err
		}
	}
	return r.drain()
}

// checkType goes by the Content-Type where it says something, else by the first bytes. A video is read in any case, so
// its bytes decide.
func checkType(kind Kind, contentType string, head []byte) error {
	fit, unsure := kind.fits(contentType)
	if kind != Video && fit || (fit || unsure) && kinds[kind].magic(head) {
		return nil
	}
	return &MediaError{Reason: fmt.Sprintf("the file is no %s of type %s", kind, kinds[kind].types)}
}

func checkLength(s stream) error {
	length, err := videoLength(s)
	switch {
	case errors.Is(err, errUntold), errors.Is(err, errScattered):
		return nil
	case err != nil:
		return err
	case length > maxLength:
		return &MediaError{Reason: fmt.Sprintf("the video is longer than %d s", int(maxLength.Seconds()))}
	}
	return nil
}

// judge tells definite faults from passing ones: what the channel itself would meet tomorrow too is definite.
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

// statusError judges a status that is no file: what may pass is a fault, the rest a rejection.
func statusError(status int) error {
	switch {
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		return fmt.Errorf("fetch media: status %d", status)
	default:
		return &MediaError{Reason: fmt.Sprintf("the address answers %d", status)}
	}
}
