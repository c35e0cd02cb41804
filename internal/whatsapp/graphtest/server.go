// Package graphtest is a fake of the WhatsApp Cloud API, for tests and for fault and benchmark runs. It listens on
// loopback, accepts template messages and template management, responds as the channel does, records what it accepted, and
// posts signed status callbacks.
//
// It is strict: a wrong field, type, count, token, version or id is an error in the channel's form with the channel's
// code. Options.Loose skips the check of messages, for speed. It does not use package whatsapp, so that neither repeats
// the other's mistakes.
package graphtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"carillon"
)

// Options are the account that the server represents and how it behaves. The zero value is strict and posts no callbacks.
type Options struct {
	Addr          string // default 127.0.0.1:0
	Version       string // default v23.0
	PhoneNumberID string // default 1000001
	WABAID        string // default 2000001
	AccessToken   string // default provider-token
	AppSecret     string // default provider-app-secret
	VerifyToken   string // default provider-verify-token
	DisplayNumber string // default 15555550100

	Templates   []carillon.Template // approved unless their Status says otherwise
	AutoApprove bool                // created and edited templates are approved at once
	Loose       bool                // messages are not checked against form and templates, and bodies not kept

	Callbacks Callbacks
}

func (o Options) filled() Options {
	for _, d := range []struct {
		to    *string
		value string
	}{
		{&o.Addr, "127.0.0.1:0"},
		{&o.Version, "v23.0"},
		{&o.PhoneNumberID, "1000001"},
		{&o.WABAID, "2000001"},
		{&o.AccessToken, "provider-token"},
		{&o.AppSecret, "provider-app-secret"},
		{&o.VerifyToken, "provider-verify-token"},
		{&o.DisplayNumber, "15555550100"},
	} {
		if *d.to == "" {
			*d.to = d.value
		}
	}
	o.Callbacks = o.Callbacks.filled()
	return o
}

// Server is a running fake.
type Server struct {
	o        Options
	http     *http.Server
	listener net.Listener
	stop     chan struct{}
	done     sync.WaitGroup
	poster   *poster // nil without a callback address
	record
	failures
	templates
}

// New starts a server; Close ends it.
func New(o Options) (*Server, error) {
	o = o.filled()
	s := &Server{o: o, stop: make(chan struct{})}
	s.record.start(o.Loose)
	s.templates.autoApprove = o.AutoApprove
	if err := s.templates.declare(o.Templates); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	s.listener = l
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	s.done.Go(func() { _ = s.http.Serve(l) })
	if o.Callbacks.URL != "" {
		s.poster = newPoster(s)
		s.done.Go(func() { s.poster.run(s.stop) })
	}
	return s, nil
}

// URL is the base address, for the setting base_url.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Settings are those of a sender behind this server.
func (s *Server) Settings() json.RawMessage {
	b, _ := json.Marshal(map[string]string{
		"base_url": s.URL(), "version": s.o.Version, "phone_number_id": s.o.PhoneNumberID, "waba_id": s.o.WABAID,
		"access_token": s.o.AccessToken, "app_secret": s.o.AppSecret, "verify_token": s.o.VerifyToken,
	})
	return b
}

// Close ends the server with its hanging requests and callbacks in flight.
func (s *Server) Close() error {
	close(s.stop)
	err := s.http.Close()
	s.done.Wait()
	return err
}

// ServeHTTP routes by the account's paths; any other path is an object that does not exist.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		return // the client closed the connection
	}
	if e := s.admit(r); e != nil {
		e.write(w)
		return
	}
	path := strings.TrimPrefix(r.URL.Path, "/"+s.o.Version+"/")
	switch {
	case path == s.o.PhoneNumberID+"/messages" && r.Method == http.MethodPost:
		s.message(w, r, body)
	case path == s.o.WABAID+"/message_templates":
		s.templates.serveList(w, r, body)
	case !strings.Contains(path, "/"):
		s.templates.serveOne(w, r, path, body)
	default:
		noObject(path).write(w)
	}
}

// maxBody is more than any message or template needs.
const maxBody = 1 << 20

func readBody(r *http.Request) ([]byte, error) {
	if r.ContentLength > maxBody {
		return nil, errors.New("body too long")
	}
	if r.ContentLength > 0 {
		body := make([]byte, r.ContentLength)
		_, err := io.ReadFull(r.Body, body)
		return body, err
	}
	return io.ReadAll(io.LimitReader(r.Body, maxBody))
}

// admit checks what every request must have.
func (s *Server) admit(r *http.Request) *Error {
	if r.Header.Get("Authorization") != "Bearer "+s.o.AccessToken {
		return &Error{HTTP: 401, Code: 190, Message: "Invalid OAuth access token"}
	}
	if !strings.HasPrefix(r.URL.Path, "/"+s.o.Version+"/") {
		return &Error{HTTP: 400, Code: 2500, Message: "Unknown path components"}
	}
	if r.Method != http.MethodPost {
		return nil
	}
	if r.Header.Get("Content-Type") != "application/json" {
		return invalid("The body must be application/json")
	}
	for _, h := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if r.Header.Get(h) != "" {
			return invalid("A request carries no " + h)
		}
	}
	return nil
}

// Error is an error response in the channel's form.
type Error struct {
	HTTP      int
	Code      int
	Subcode   int
	Message   string
	UserMsg   string
	Transient bool
	Header    http.Header
}

func invalid(message string) *Error { return &Error{HTTP: 400, Code: 100, Message: message} }

func noObject(id string) *Error {
	return &Error{HTTP: 400, Code: 100, Subcode: 33, Message: "Object with ID '" + id + "' does not exist"}
}

func (e *Error) write(w http.ResponseWriter) {
	member := map[string]any{
		"message": "(#" + strconv.Itoa(e.Code) + ") " + e.Message, "type": "OAuthException",
		"code": e.Code, "fbtrace_id": "AbCdEf123",
	}
	if e.Subcode != 0 {
		member["error_subcode"] = e.Subcode
	}
	if e.UserMsg != "" {
		member["error_user_msg"] = e.UserMsg
	}
	if e.Transient {
		member["is_transient"] = true
	}
	maps.Copy(w.Header(), e.Header)
	respond(w, e.HTTP, map[string]any{"error": member})
}

func respond(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have closed the connection
}
