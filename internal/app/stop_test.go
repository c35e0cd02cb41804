package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"carillon/internal/base/config"
)

// A client that holds a request open must not use up the time for sends in flight, since the supervisor kills the
// program soon after both.
func TestStopDrainsBesideARequestThatIsHeld(t *testing.T) {
	t.Parallel()
	a := started(t, config.Config{
		Addr: "127.0.0.1:0", Data: t.TempDir(), Demo: true, PasswordMemory: 8, PasswordPasses: 1, ShutdownTimeout: Hung,
	})
	if a.requestGrace+a.drainTime() > a.cfg.ShutdownTimeout {
		t.Errorf("requests have %v before the drain, which has %v of %v", a.requestGrace, a.drainTime(), a.cfg.ShutdownTimeout)
	}
	a.requestGrace = time.Millisecond
	c, err := net.Dial("tcp", strings.TrimPrefix(a.BaseURL(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, _ = fmt.Fprintf(c, "POST /functions/v1/notify?access_key=%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+
		"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n", a.ready.AccessKey)
	in := bufio.NewReader(c)
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "100") {
		t.Fatalf("the body is not waited for: %q, %v", line, err)
	}
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- a.Stop(context.Background()) }()
	a.work.Wait()
	_, _ = c.Write([]byte("{}"))
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatalf("after the drain the request has no answer: %v", err)
	}
	text, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	// The request was not cut off, but read to its end.
	if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), `"field":"contact"`) || err != nil {
		t.Errorf("it was answered %d, %s, %v", resp.StatusCode, text, err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
