package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestHealthAsksOnceAndTellsByItsExitCode(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	s.answer("/healthz", `200 {"status":"ok"}`, `200 {"status":"ok"}`)
	s.answer("/readyz", `503 {"error":"service_unavailable","message":"Not ready","retry_after":1,"details":{"reason":"the clock is `+
		`wrong"}}`)
	s.try(nil, "health").want(t, exitOK, "ok\n", "")
	s.try(nil, "health", "--json").want(t, exitOK, `"status": "ok"`, "")
	s.try(nil, "health", "--ready").want(t, exitFailed, "", "service_unavailable: Not ready\n  reason: the clock is wrong\n")
	if len(s.asked) != 3 {
		t.Errorf("asked %v, not once a command", s.asked)
	}
	s.try(nil, "health", "--within", "0s").want(t, exitUsage, "", "--within")
	s.try(nil, "health", "--url", "http://127.0.0.1:1").want(t, exitFailed, "", "no response from http://127.0.0.1:1")
}

func TestHealthDoesNotWaitForAProgramThatHangs(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hangs.Close()
	s.try(nil, "health", "--url", hangs.URL, "--within", "50ms").want(t, exitFailed, "", "no response from "+hangs.URL)
}
