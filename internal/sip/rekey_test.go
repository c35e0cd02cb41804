package sip

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// A re-INVITE with another key: what comes with the one from before is not read any more.
func TestAReinvitesKeyIsUsed(t *testing.T) {
	t.Parallel()
	calls := make(chan *Call, 1)
	there := engine(t, Options{OnCall: func(in *Incoming) {
		go func() {
			if c, err := in.Answer(context.Background(), nil); err == nil {
				calls <- c
			}
		}()
	}})
	here := engine(t, Options{})
	c, err := dial(t, here, Dial{Trunk: Trunk{Host: there.Address().String(), Transport: "udp", Encrypt: true}})
	if err != nil {
		t.Fatal(err)
	}
	far := <-calls
	packets := func() int64 {
		_, before := far.Lost()
		time.Sleep(300 * time.Millisecond)
		_, after := far.Lost()
		return after - before
	}
	if n := packets(); n < 10 {
		t.Fatalf("%d packets come with the first key", n)
	}
	if err := c.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := packets(); n < 10 {
		t.Errorf("%d packets come with the same key", n)
	}
	c.own.keys[0].key = newKey() // which the session does not send with
	if err := c.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := packets(); n > 2 {
		t.Errorf("%d packets are read by the key from before", n)
	}
	c.HangUp(t.Context())
}

func TestASessionThatIsTooShortIsRefused(t *testing.T) {
	t.Parallel()
	e := engine(t, Options{OnCall: func(in *Incoming) { in.Refuse(486, "Busy Here") }})
	for expires, want := range map[int]string{30: "422 ", 89: "422 ", 90: "486 "} {
		conn, err := net.Dial("udp4", e.Address().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		own := conn.LocalAddr().String()
		_, err = fmt.Fprintf(conn, "INVITE sip:1@%s SIP/2.0\r\nVia: SIP/2.0/UDP %s;branch=z9hG4bK%d\r\nFrom: <sip:2@%s>;tag=1\r\nTo: <sip:1@%s>\r\n"+
			"Call-ID: c%d\r\nCSeq: 1 INVITE\r\nContact: <sip:2@%s>\r\nMax-Forwards: 70\r\nSupported: timer\r\nSession-Expires: %d\r\nContent-Length: 0\r\n\r\n",
			e.Address(), own, expires, own, e.Address(), expires, own, expires)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		b := make([]byte, 4096)
		for {
			n, err := conn.Read(b)
			if err != nil {
				t.Fatal(expires, err)
			}
			text := string(b[:n])
			if strings.HasPrefix(text, "SIP/2.0 1") {
				continue
			}
			if !strings.HasPrefix(text, "SIP/2.0 "+want) || want == "422 " && !strings.Contains(text, "Min-SE: 90\r\n") {
				t.Errorf("%d seconds: %s", expires, text)
			}
			break
		}
	}
}
