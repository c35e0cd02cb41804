package httpio

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestADownloadTakesAsLongAsItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := serveInBubble(t, newTestRouter(Route{Pattern: "GET /file", Handle: func(w http.ResponseWriter, _ *http.Request) error {
			d := OpenDownload(w, "a.csv")
			for range 3 {
				if _, err := io.WriteString(d, strings.Repeat("x", 10_000)); err != nil {
					return err
				}
				time.Sleep(200 * time.Millisecond)
			}
			return nil
		}}))
		resp, err := client.Get("http://carillon.test/file")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if all, err := io.ReadAll(resp.Body); len(all) != 30_000 || err != nil {
			t.Errorf("%d bytes, %v", len(all), err)
		}
	})
}

func TestADownloadThatNobodyReadsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended error
		_, dial := serveInBubble(t, newTestRouter(Route{Pattern: "GET /file", Handle: func(w http.ResponseWriter, _ *http.Request) error {
			d := OpenDownload(w, "a.csv")
			for {
				if _, err := io.WriteString(d, strings.Repeat("x", 1<<20)); err != nil {
					ended = err
					return nil //nolint:nilerr // the test receives it
				}
			}
		}}))
		conn := dial()
		defer func() { _ = conn.Close() }()
		if _, err := io.WriteString(conn, "GET /file HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if synctest.Wait(); ended == nil {
			t.Error("the download continues")
		}
	})
}
