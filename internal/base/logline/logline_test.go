package logline_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"carillon/internal/base/logline"
)

// heard is a writer that may be read and written concurrently.
type heard struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all.Write(b)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all.String()
}

func TestLogLinesAreWrittenTogetherAndSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out heard
		w := logline.New(&out)
		write := func(s string) {
			if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
				t.Fatal(n, err)
			}
		}
		write("one\n")
		write("two\n")
		if out.String() != "" {
			t.Errorf("written one by one: %q", out.String())
		}
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		if out.String() != "one\ntwo\n" {
			t.Errorf("after a moment there is %q", out.String())
		}
		write(strings.Repeat("x", 40<<10))
		if len(out.String()) != 8+(40<<10) {
			t.Errorf("much is kept back: %d bytes are written", len(out.String()))
		}
		write("last\n")
		if err := w.Flush(); err != nil || !strings.HasSuffix(out.String(), "last\n") {
			t.Errorf("flushed: %v", err)
		}
	})
}
