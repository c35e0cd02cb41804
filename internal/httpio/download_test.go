package httpio

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestADownloadTakesAsLongAsItIsRead(t *testing.T) {
	server := httptest.NewUnstartedServer(newTestRouter(Route{Pattern: "GET /file", Handle: func(w http.ResponseWriter, r *http.Request) error {
		d := OpenDownload(w, "a.csv")
		for range 3 {
			if _, err := io.WriteString(d, strings.Repeat("x", 10_000)); err != nil {
				return err
			}
			select {
			case <-r.Context().Done():
				panic(http.ErrAbortHandler)
			case <-time.After(200 * time.Millisecond):
			}
		}
		return nil
	}}))
	server.Config.ReadTimeout, server.Config.WriteTimeout = 300*time.Millisecond, 300*time.Millisecond
	server.Start()
	defer server.Close()
	resp, err := server.Client().Get(server.URL + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if all, err := io.ReadAll(resp.Body); len(all) != 30_000 || err != nil {
		t.Errorf("%d bytes, %v", len(all), err)
	}
}

func TestADownloadThatNobodyReadsEnds(t *testing.T) {
	ended := make(chan error, 1)
	server := httptest.NewServer(newTestRouter(Route{Pattern: "GET /file", Handle: func(w http.ResponseWriter, _ *http.Request) error {
		d := OpenDownload(w, "a.csv")
		d.within = 200 * time.Millisecond
		for {
			if _, err := io.WriteString(d, strings.Repeat("x", 1<<20)); err != nil {
				ended <- err
				return nil //nolint:nilerr // the test has it
			}
		}
	}}))
	defer server.Close()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET /file HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("it goes on")
	}
}
