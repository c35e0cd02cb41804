// Package graphtest is a fake of the WhatsApp Cloud API, for tests, fault injection and benchmarks. It listens on
// loopback, accepts template messages and template management, responds like the channel, records accepted messages,
// and posts signed status callbacks.
//
// It is strict: a wrong field, type, count, token, version or id is an error in the channel's format with the
// channel's code. Options.Loose skips the check of messages, for speed. It does not use package whatsapp, so that
// neither repeats the other's mistakes.
package graphtest

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"

	"carillon"
)

// Options describe the account that the server represents and the server's behavior. The zero value is strict and
// posts no callbacks.
type Options struct {
	PhoneNumberID string // default 1000001
	WABAID        string // default 2000001
	AccessToken   string // default provider-token
	AppSecret     string // default provider-app-secret
	VerifyToken   string // default provider-verify-token

	Templates   []carillon.Template // approved unless their Status differs
	AutoApprove bool                // created and edited templates are approved immediately
	Loose       bool                // messages are not checked, and their bodies are not stored

	Callbacks Callbacks
}

// version is the only supported version.
const version = "v23.0"

// Server is a running fake.
type Server struct {
	o      Options
	http   *httptest.Server
	stop   chan struct{}
	done   sync.WaitGroup
	poster *poster // nil without a callback address
	record
	failures
	templates
	replies
	account
	uploads
}

// New starts a server. Close ends it.
func New(o Options) (*Server, error) {
	o.PhoneNumberID = cmp.Or(o.PhoneNumberID, "1000001")
	o.WABAID = cmp.Or(o.WABAID, "2000001")
	o.AccessToken = cmp.Or(o.AccessToken, "provider-token")
	o.AppSecret = cmp.Or(o.AppSecret, "provider-app-secret")
	o.VerifyToken = cmp.Or(o.VerifyToken, "provider-verify-token")
	s := &Server{o: o, stop: make(chan struct{}), record: newRecord(), account: newAccount(o), uploads: newUploads()}
	s.templates.autoApprove = o.AutoApprove
	if err := s.templates.declare(o.Templates); err != nil {
		return nil, err
	}
	s.http = httptest.NewServer(s.routes())
	if o.Callbacks.URL != "" {
		s.poster = newPoster(s)
		s.done.Go(func() { s.poster.run(s.stop) })
	}
	return s, nil
}

// URL returns the base URL, for the setting base_url.
func (s *Server) URL() string { return s.http.URL }

// Settings returns the settings of a sender that uses this server.
func (s *Server) Settings() json.RawMessage {
	b, _ := json.Marshal(map[string]string{
		"base_url": s.URL(), "version": version, "phone_number_id": s.o.PhoneNumberID, "waba_id": s.o.WABAID,
		"access_token": s.o.AccessToken, "app_secret": s.o.AppSecret, "verify_token": s.o.VerifyToken,
	})
	return b
}

// Close stops the server, including hanging requests and callbacks in flight.
func (s *Server) Close() error {
	close(s.stop)
	s.http.CloseClientConnections()
	s.http.Close()
	s.done.Wait()
	return nil
}

// handler serves a request whose body has been read. The returned error is the response.
type handler func(w http.ResponseWriter, r *http.Request, body []byte) *Error

// routes returns the account's paths. Any other path is an object that does not exist.
func (s *Server) routes() http.Handler {
	root := "/" + version + "/"
	list := root + s.o.WABAID + "/message_templates"
	apps := root + s.o.WABAID + "/subscribed_apps"
	mux := http.NewServeMux()
	for pattern, h := range map[string]handler{
		"POST " + root + s.o.PhoneNumberID + "/messages": s.message,
		"POST " + list:                    s.templates.create,
		"GET " + list:                     s.templates.list,
		"DELETE " + list:                  s.templates.delete,
		"GET " + root + s.o.PhoneNumberID: s.account.phone,
		"GET " + root + s.o.WABAID + "/phone_numbers":      s.account.numbers,
		"GET " + root + "debug_token":                      s.account.debugToken,
		"GET " + root + exchangePath:                       s.account.exchange,
		"GET " + root + s.o.WABAID:                         s.account.waba,
		"POST " + root + s.o.WABAID:                        s.account.countByTemplate,
		"GET " + root + s.o.WABAID + "/template_analytics": s.statistics,
		"GET " + apps:                      s.account.subscribed,
		"POST " + apps:                     s.account.subscribe,
		"POST " + root + s.o.PhoneNumberID: s.account.changePhone,
		"POST " + root + s.o.PhoneNumberID + "/register":        s.account.register,
		"POST " + root + s.o.PhoneNumberID + "/smb_app_data":    s.account.appData,
		"POST " + root + s.o.PhoneNumberID + "/settings":        s.account.setCalls,
		"GET " + root + s.o.PhoneNumberID + "/settings":         s.account.calls,
		"GET " + root + s.o.PhoneNumberID + "/call_permissions": s.account.permission,
		"POST " + root + s.o.PhoneNumberID + "/calls":           s.account.startCall,
		"GET " + root + "{id}":                                  s.node,
		"GET /files/{id}/{n}":                                   s.file,
		"POST " + root + "{id}":                                 s.change,
		"POST " + root + "{app}/uploads":                        s.beginUpload,
		root + "{path...}": func(_ http.ResponseWriter, r *http.Request, _ []byte) *Error {
			return noObject(r.PathValue("path"))
		},
		"/": func(http.ResponseWriter, *http.Request, []byte) *Error {
			return &Error{HTTP: 400, Code: 2500, Message: "Unknown path components"}
		},
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, h) })
	}
	return mux
}

// maxBody exceeds the size of any message or template.
const maxBody = 1 << 20

func (s *Server) serve(w http.ResponseWriter, r *http.Request, h handler) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return // the client closed the connection
	}
	e := s.admit(r)
	if strings.HasPrefix(r.URL.Path, "/"+version+"/") {
		w.Header().Set("Facebook-Api-Version", s.Account().Served)
	}
	if e == nil {
		e = h(w, r, body)
	}
	if e != nil {
		e.write(w)
	}
}

// admit checks the requirements for all requests.
func (s *Server) admit(r *http.Request) *Error {
	scheme := "Bearer"
	if isUpload(r) {
		scheme = "OAuth"
	}
	switch {
	case r.URL.Path == "/"+version+"/"+exchangePath: // the application's secret stands for a token
		if r.Header.Get("Authorization") != "" {
			return invalid("The exchange of a code takes no access token")
		}
	case s.Account().Expired:
		return &Error{HTTP: 401, Code: 190, Subcode: 463, Message: "Error validating access token: the session has expired"}
	case r.Header.Get("Authorization") != scheme+" "+s.o.AccessToken:
		return &Error{HTTP: 401, Code: 190, Message: "Invalid OAuth access token"}
	case r.Method == http.MethodPost && r.Header.Get("Content-Type") != "application/json" && !isUpload(r):
		return invalid("The body must be application/json")
	case r.Header.Get("Idempotency-Key") != "" || r.Header.Get("X-Idempotency-Key") != "":
		return invalid("A request carries no key of idempotency")
	}
	return nil
}

// Error is an error response in the channel's format.
type Error struct {
	HTTP    int
	Code    int
	Subcode int
	Message string
	UserMsg string
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
	respond(w, e.HTTP, map[string]any{"error": member})
}

func respond(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have closed the connection
}
