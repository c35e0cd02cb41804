package app_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"carillon/internal/app"
)

func TestLogLinesAreWrittenTogetherAndSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		w := app.NewLogWriter(&out)
		write := func(s string) {
			if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
				t.Fatal(n, err)
			}
		}
		write("one\n")
		write("two\n")
		if out.Len() > 0 {
			t.Errorf("written one by one: %q", out.String())
		}
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		if out.String() != "one\ntwo\n" {
			t.Errorf("after a moment there is %q", out.String())
		}
		write(strings.Repeat("x", 40<<10))
		if out.Len() != 8+(40<<10) {
			t.Errorf("much is kept back: %d bytes are written", out.Len())
		}
		write("last\n")
		if err := w.Flush(); err != nil || !strings.HasSuffix(out.String(), "last\n") {
			t.Errorf("flushed: %v", err)
		}
	})
}
