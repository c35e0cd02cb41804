package paneltest

import (
	"context"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"carillon/internal/account/mail"
	"carillon/internal/account/sso"
)

// To counts the e-mails to an address.
func (p *postbox) To(address string) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.All {
		if strings.EqualFold(x.To, address) {
			n++
		}
	}
	return n
}

// postbox records e-mails, or refuses them if Down is set.
type postbox struct {
	mu   sync.Mutex
	All  []mail.Message
	Down error
}

func (p *postbox) Send(_ context.Context, x mail.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Down == nil {
		p.All = append(p.All, x)
	}
	return p.Down
}

func (p *postbox) Post(job mail.Job) bool {
	x, err := job(context.Background())
	return err == nil && (x == nil || p.Send(context.Background(), *x) == nil)
}

var LinkIn = regexp.MustCompile(`https://panel\.test/panel/[a-z]+#([\w-]{43})`)

// Last returns the newest e-mail and the secret of its link.
func (p *postbox) Last(t *testing.T) (mail.Message, string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.All) == 0 {
		t.Fatal("no e-mail was sent")
	}
	x := p.All[len(p.All)-1]
	found := LinkIn.FindStringSubmatch(x.Text)
	if found == nil || !strings.Contains(x.HTML, found[0]) {
		t.Fatalf("no link in %+v", x)
	}
	return x, found[1]
}

// Page sends a request like a page of the panel, with a cookie.
func (w *World) Page(method, path, cookie, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(w.T.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Carillon-Panel", "1")
	if cookie != "" {
		r.Header.Set("Cookie", cookie)
	}
	rec := httptest.NewRecorder()
	w.Router.ServeHTTP(rec, r)
	return rec
}

// fakeSSO is the test's single sign-on server, which a test may set later.
type fakeSSO struct{ *sso.Server }

func (s fakeSSO) Name() string {
	if s.Server == nil {
		return ""
	}
	return s.Server.Name()
}
