package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"

	"carillon"
	"carillon/internal/edge/httpio"
)

// Hold returns another listener of the public address. Connections are refused only when all are closed.
func (s *Server) Hold() (net.Listener, error) { return hold(s.listener.Listener) }

func hold(l net.Listener) (net.Listener, error) {
	from, ok := l.(*net.TCPListener)
	if !ok {
		return nil, errors.New("the public address is not one of TCP")
	}
	f, err := from.File()
	if err != nil {
		return nil, fmt.Errorf("hold the public address: %w", err)
	}
	defer func() { _ = f.Close() }()
	other, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("hold the public address: %w", err)
	}
	return other, nil
}

// Away responds at the public address of a program that does not serve for a while: to requests with 503 and Retry-After,
// to /healthz with 200, because the process is alive.
type Away struct {
	held   net.Listener // for the next server
	public *http.Server
	done   chan struct{}
}

// retryAfter is the Retry-After of the responses, in seconds.
const retryAfter = 5

// NewAway starts to respond for a server, which still finishes its requests.
func (s *Server) NewAway(reason string, log *slog.Logger) (*Away, error) {
	held, err := s.Hold()
	if err != nil {
		return nil, err
	}
	own, err := hold(held)
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	limited := limitConnections(own, s.listener.most, s.listener.perAddress, s.listener.trusted, log)
	a := &Away{held: held, public: newServer(absent(s.router.Routes(), reason), log), done: make(chan struct{})}
	a.public.SetKeepAlivesEnabled(false) // the next request is for the next server
	a.public.ConnState = limited.state
	go func() {
		defer close(a.done)
		if err := IgnoreClosed(a.public.Serve(limited)); err != nil {
			log.Warn("respond while not serving", "error", err)
		}
	}()
	return a, nil
}

// End stops responding and returns a listener of the address for the next server.
func (a *Away) End() net.Listener {
	_ = a.public.Close()
	<-a.done
	return a.held
}

// absent serves routes by refusals.
func absent(routes []httpio.Route, reason string) http.Handler {
	var all []httpio.Route
	for _, x := range routes {
		if strings.HasPrefix(x.Pattern, "OPTIONS ") {
			continue // the new router makes them
		}
		if x.Stream = false; x.Pattern != "GET /healthz" {
			x.Handle = func(http.ResponseWriter, *http.Request) error {
				return &carillon.Error{
					Code: carillon.ServiceUnavailable, Message: "The service cannot take this request now", RetryAfter: retryAfter,
					Details: carillon.Details{{Key: "reason", Value: reason}},
				}
			}
		}
		all = append(all, x)
	}
	return httpio.NewRouter(slog.New(slog.DiscardHandler), nil, all...)
}
