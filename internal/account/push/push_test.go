package push_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/account/push"
	"carillon/internal/account/push/pushtest"
	"carillon/internal/base/egress"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/storetest"
)

// started returns a pusher, and a subscription of a browser at a push service.
func started(t *testing.T) (*push.Pusher, *pushtest.Service, *accounts.Subscription) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: storetest.Folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	service := pushtest.New(t)
	client := push.NewClient(service.Egress())
	t.Cleanup(client.Close)
	p := push.New(push.Options{Notices: s.Notices, Client: client, Contact: func() string { return "ops@acme.test" }})
	key, err := p.PublicKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	service.SetKey(key)
	x := &accounts.Subscription{ID: carillon.NewID(time.Now()), Endpoint: service.URL + "/send/1"}
	x.P256DH, x.Auth = service.Keys()
	return p, service, x
}

func TestAMessageIsEncryptedAndSigned(t *testing.T) {
	p, service, x := started(t)
	if err := p.Check(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	id := carillon.NewID(time.Now())
	m := push.Message{Title: "María is waiting", Body: strings.Repeat("¿Admiten perros? ", 40), Tag: id, URL: "/panel/inbox?c=" + id}
	if err := p.Send(t.Context(), x, m, 10*time.Minute); err != nil {
		t.Fatal(err)
	}
	got := service.Received()
	body := []rune(m.Body)
	want := []pushtest.Received{{
		Path: "/send/1", TTL: 600, Topic: strings.ReplaceAll(id, "-", ""), Subject: "mailto:ops@acme.test",
		Text: map[string]string{"title": m.Title, "body": string(body[:push.MaxText-1]) + "…", "tag": id, "url": m.URL},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if again, err := p.PublicKey(t.Context()); err != nil || len(again) != 87 {
		t.Error(again, err)
	}
}

func TestAPushServiceRefuses(t *testing.T) {
	p, service, x := started(t)
	for status, want := range map[int]error{http.StatusNotFound: push.ErrGone, http.StatusGone: push.ErrGone} {
		service.Respond(status)
		if err := p.Send(t.Context(), x, push.Message{Title: "a", Tag: "a"}, time.Minute); !errors.Is(err, want) {
			t.Errorf("%d: %v", status, err)
		}
	}
	service.Respond(http.StatusInternalServerError)
	err := p.Send(t.Context(), x, push.Message{Title: "a", Tag: "a"}, time.Minute)
	if err == nil || errors.Is(err, push.ErrGone) || strings.Contains(err.Error(), "/send/") {
		t.Error(err)
	}
	service.Respond(http.StatusTooManyRequests)
	for range 2 {
		if err := p.Send(t.Context(), x, push.Message{Title: "a", Tag: "a"}, time.Minute); !errors.Is(err, push.ErrSlow) {
			t.Error(err)
		}
	}
	service.Respond(http.StatusCreated)
	if err := p.Send(t.Context(), x, push.Message{Title: "a", Tag: "a"}, time.Minute); !errors.Is(err, push.ErrSlow) {
		t.Error("it was asked again at once:", err)
	}
	if got := service.Received(); len(got) != 0 {
		t.Error(got)
	}
}

func TestASubscriptionIsChecked(t *testing.T) {
	p, service, ok := started(t)
	strict := push.New(push.Options{Client: push.NewClient(egress.Options{})})
	for what, c := range map[string]struct {
		by     *push.Pusher
		change func(x *accounts.Subscription)
	}{
		"plain HTTP":         {p, func(x *accounts.Subscription) { x.Endpoint = "http://127.0.0.1:1/" }},
		"no URL":             {p, func(x *accounts.Subscription) { x.Endpoint = "push" }},
		"a user in the URL":  {p, func(x *accounts.Subscription) { x.Endpoint = "https://a:b@127.0.0.1/" }},
		"too long":           {p, func(x *accounts.Subscription) { x.Endpoint += "/" + strings.Repeat("a", 1000) }},
		"a private address":  {strict, func(x *accounts.Subscription) { x.Endpoint = "https://127.0.0.1/" }},
		"the metadata":       {strict, func(x *accounts.Subscription) { x.Endpoint = "https://169.254.169.254/" }},
		"another port":       {strict, func(x *accounts.Subscription) { x.Endpoint = "https://192.0.2.1:22/" }},
		"a key of 64 bytes":  {p, func(x *accounts.Subscription) { x.P256DH = x.P256DH[:86] }},
		"no base64url":       {p, func(x *accounts.Subscription) { x.Auth = "+" + x.Auth[1:] }},
		"a secret too short": {p, func(x *accounts.Subscription) { x.Auth = x.Auth[:8] }},
	} {
		x := *ok
		c.change(&x)
		if err := c.by.Check(t.Context(), &x); !carillon.IsCode(err, carillon.ValidationFailed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := service.Received(); len(got) != 0 {
		t.Error(got)
	}
}
