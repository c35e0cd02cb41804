// Package sso signs people in through an OpenID Connect server: the authorization code flow with PKCE (RFC 7636).
package sso

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
)

// Options configure a Server.
type Options struct {
	Issuer       string // the server's URL as in its tokens; a trailing slash may be missing or superfluous
	ClientID     string
	ClientSecret string
	Name         string // display name
	// TrustEmails treats an e-mail as verified if the server does not state whether it is.
	TrustEmails bool
	Log         *slog.Logger
}

const (
	timeout    = 10 * time.Second // for a request to the server
	maxSubject = 255              // OpenID Connect Core 1.0, section 2
)

// Server is a single sign-on server. Its discovery document is read at the first sign-in. Its methods are safe for
// concurrent use.
type Server struct {
	o       Options
	client  *http.Client
	reading singleflight.Group
	found   atomic.Pointer[known]
}

// known is the server's discovery document with the verifier of its tokens.
type known struct {
	*oidc.Provider
	verifier *oidc.IDTokenVerifier
	keys     oidc.KeySet
}

// New returns a server.
func New(o Options) *Server { return &Server{o: o, client: &http.Client{Timeout: timeout}} }

// Issuer returns the server's URL without a trailing slash. Accounts are linked to it, however the configured URL is
// written.
func (s *Server) Issuer() string { return strings.TrimRight(s.o.Issuer, "/") }

// Name returns the server's display name.
func (s *Server) Name() string { return s.o.Name }

// Attempt is a sign-in in progress. Only the browser that began it knows its contents.
type Attempt struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
}

// Person is the person who signed in.
type Person struct {
	Subject  string
	Email    string
	Verified bool // whether the server vouches for the e-mail
	Name     string
}

// ErrDown means that the single sign-on server did not respond as expected.
var ErrDown = errors.New("the server for single sign-on does not respond")

// ErrRefused means that the response does not belong to the attempt or is invalid.
var ErrRefused = errors.New("the sign-in was not the one that was begun")

// Begin starts a sign-in. It returns the attempt and the URL to which to send the browser. The server sends the
// browser back to redirect.
func (s *Server) Begin(ctx context.Context, redirect string) (Attempt, string, error) {
	p, err := s.provider(ctx)
	if err != nil {
		return Attempt{}, "", err
	}
	a := Attempt{oauth2.GenerateVerifier(), oauth2.GenerateVerifier(), oauth2.GenerateVerifier()}
	return a, s.config(p, redirect).AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), nil
}

// Finish exchanges the code of a response for the person who signed in. Errors: ErrRefused, ErrDown.
func (s *Server) Finish(ctx context.Context, a Attempt, redirect, state, code string) (*Person, error) {
	p, err := s.finish(ctx, a, redirect, state, code)
	if err != nil {
		s.o.Log.WarnContext(ctx, "a single sign-on failed", "error", err)
	}
	return p, err
}

func (s *Server) finish(ctx context.Context, a Attempt, redirect, state, code string) (*Person, error) {
	if a.State == "" || subtle.ConstantTimeCompare([]byte(a.State), []byte(state)) != 1 {
		return nil, ErrRefused
	}
	p, err := s.provider(ctx)
	if err != nil {
		return nil, err
	}
	ctx = oidc.ClientContext(ctx, s.client)
	token, err := s.config(p, redirect).Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		var answered *oauth2.RetrieveError
		if errors.As(err, &answered) && answered.Response != nil && answered.Response.StatusCode < http.StatusInternalServerError {
			return nil, fmt.Errorf("%w: %s", ErrRefused, answered.ErrorCode)
		}
		return nil, fmt.Errorf("%w: %w", ErrDown, err)
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := p.verifier.Verify(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(a.Nonce)) != 1 {
		return nil, ErrRefused
	}
	if strings.TrimSpace(id.Subject) == "" || len(id.Subject) > maxSubject || strings.ContainsFunc(id.Subject, unicode.IsControl) {
		return nil, fmt.Errorf("%w: the token names no subject", ErrRefused)
	}
	var said claims
	if err := id.Claims(&said); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if said.Email == "" && p.UserInfoEndpoint() != "" { // some servers send it only in the userinfo
		info, err := p.info(ctx, token)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDown, err)
		}
		if string(info.Subject) != id.Subject {
			return nil, fmt.Errorf("%w: the server speaks of somebody else", ErrRefused)
		}
		info.Name = cmp.Or(info.Name, said.Name)
		said = *info // email_verified must refer to the same e-mail
	}
	x := &Person{Subject: id.Subject, Email: string(said.Email), Name: string(said.Name), Verified: s.o.TrustEmails}
	if said.Verified != nil {
		x.Verified = bool(*said.Verified)
	} else if x.Email != "" && !s.o.TrustEmails {
		s.o.Log.InfoContext(ctx, "the server for single sign-on does not say whether the e-mail is verified", "setting", "oidc-trust-email")
	}
	return x, nil
}

func (s *Server) config(p *known, redirect string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: s.o.ClientID, ClientSecret: s.o.ClientSecret, Endpoint: p.Endpoint(), RedirectURL: redirect,
		Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
}

// provider reads the discovery document once. Concurrent callers wait for the same response, each no longer than its
// context allows.
func (s *Server) provider(ctx context.Context) (*known, error) {
	if p := s.found.Load(); p != nil {
		return p, nil
	}
	read := s.reading.DoChan("", func() (any, error) {
		p, err := s.discover(context.WithoutCancel(ctx))
		if err != nil {
			s.o.Log.WarnContext(ctx, "the server for single sign-on cannot be read", "error", err)
			return nil, fmt.Errorf("%w: %w", ErrDown, err)
		}
		s.found.Store(p)
		return p, nil
	})
	select {
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrDown, ctx.Err())
	case r := <-read:
		p, _ := r.Val.(*known)
		return p, r.Err
	}
}

// discover reads the discovery document. The issuer's trailing slash is up to the server: Auth0 and Authentik have
// one.
func (s *Server) discover(ctx context.Context) (*known, error) {
	ctx = oidc.ClientContext(ctx, s.client)
	p, err := oidc.NewProvider(ctx, s.o.Issuer)
	if other, ok := errors.AsType[*oidc.IssuerMismatchError](err); ok && strings.TrimRight(other.Discovered, "/") == s.Issuer() {
		p, err = oidc.NewProvider(ctx, other.Discovered)
	}
	if err != nil {
		return nil, err
	}
	var described struct {
		Keys string `json:"jwks_uri"`
	}
	if err := p.Claims(&described); err != nil {
		return nil, err
	}
	keys := oidc.ClientContext(ctx, &http.Client{Timeout: timeout, Transport: usableKeys{http.DefaultTransport}})
	return &known{p, p.VerifierContext(keys, &oidc.Config{ClientID: s.o.ClientID}), oidc.NewRemoteKeySet(keys, described.Keys)}, nil
}
