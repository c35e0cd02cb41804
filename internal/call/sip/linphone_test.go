package sip

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/base/need"
	"carillon/internal/call/sip/siptest"
)

// recording is the sound that a call received.
type recording struct {
	mu  sync.Mutex
	pcm []int16
}

func (r *recording) frame(in, _ []int16) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pcm = append(r.pcm, in...)
}

func (r *recording) all() []int16 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.pcm)
}

// becomes waits until something is so.
func becomes(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(hung); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("does not come: ", what)
		}
	}
}

// digits waits for keys that the far side presses.
func digits(t *testing.T, c *Call, keys string) {
	t.Helper()
	for _, key := range keys {
		select {
		case d := <-c.Digits():
			if d != key {
				t.Errorf("the key %c, not %c", d, key)
			}
		case <-time.After(hung):
			t.Fatalf("the key %c does not come", key)
		}
	}
}

// sweep is a sound that rises and falls, unlike at any other time. Encoders of speech keep its waveform.
func sweep(d time.Duration) []int16 {
	pcm := make([]int16, int(d*8000/time.Second))
	phase := 0.0
	for i := range pcm {
		at := float64(i) / 8000
		phase += (650 + 250*math.Sin(7*at) + 100*math.Sin(19*at)) / 8000
		pcm[i] = int16(9000 * math.Sin(2*math.Pi*phase))
	}
	return pcm
}

func TestLinphoneTalks(t *testing.T) {
	need.Sound(t)
	t.Parallel()
	for _, c := range []struct {
		name, transport string
		o               siptest.LinphoneOptions
	}{
		{"udp", "udp", siptest.LinphoneOptions{}},
		{"tcp, digits by INFO", "tcp", siptest.LinphoneOptions{Info: true}},
		{"Opus alone", "udp", siptest.LinphoneOptions{Opus: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			theirs, ours := sweep(4*time.Second), tone(1200*time.Millisecond, 9)
			l := siptest.NewLinphone(t, theirs, c.o)
			trunk := Trunk{Host: fmt.Sprintf("127.0.0.1:%d", l.Port), Transport: c.transport}
			e := engine(t, Options{})
			var got recording
			call, err := e.Dial(t.Context(), Dial{Trunk: trunk, To: "lin", From: "15555550101", OnFrame: got.frame})
			if err != nil {
				t.Fatal(err)
			}
			l.Speaks()
			_ = call.Write(ours)
			becomes(t, "its sound", func() bool { return heardIn(got.all(), theirs[:8000]) >= mostly })
			l.Does("call-pause 1")
			becomes(t, "the hold", func() bool { return call.Held() && l.Shows("LinphoneCallPaused\n") })
			l.Does("call-resume 1")
			becomes(t, "the end of the hold", func() bool { return !call.Held() && l.Shows("LinphoneCallResuming") })
			l.Does("dtmf 7")
			digits(t, call, "7")
			l.Does("terminate")
			if cause := ended(t, call); cause.By != Them {
				t.Errorf("%+v", cause)
			}
		})
	}
}

// answers starts an engine that answers calls and passes them on with their sound.
func answers(t *testing.T, o Options) (e *Engine, calls chan *Call, got *recording) {
	t.Helper()
	calls, got = make(chan *Call, 1), &recording{}
	o.OnCall = func(in *Incoming) {
		go func() {
			call, err := in.Answer(context.Background(), got.frame)
			if err != nil {
				t.Error(err)
				return
			}
			calls <- call
		}()
	}
	return engine(t, o), calls, got
}

func TestLinphoneCallsOverTLSWithEncryptedSound(t *testing.T) {
	need.Sound(t)
	t.Parallel()
	theirs := tone(4*time.Second, 3)
	l := siptest.NewLinphone(t, theirs, siptest.LinphoneOptions{Encrypted: true})
	e, calls, got := answers(t, Options{TLS: "127.0.0.1:0", TLSFiles: siptest.Certificate(t, "")})
	l.Does(fmt.Sprintf("call sip:15555550100@%s;transport=tls", e.SecureAddress()))
	call := await(t, calls)
	if !call.Encrypted() {
		t.Error("not encrypted")
	}
	l.Speaks()
	becomes(t, "its sound", func() bool { return heardIn(got.all(), theirs[:8000]) >= mostly })
	l.Does("dtmf 9")
	digits(t, call, "9")
	l.Does("terminate")
	if cause := ended(t, call); cause.By != Them {
		t.Errorf("%+v", cause)
	}
}

const kamailioConfig = `#!KAMAILIO
debug=1
log_stderror=yes
fork=yes
children=1
tcp_children=1
auto_aliases=no
listen=udp:127.0.0.1:%[1]d
listen=tcp:127.0.0.1:%[1]d
mpath="%[2]s"
loadmodule "pv.so"
loadmodule "sl.so"
loadmodule "tm.so"
loadmodule "tmx.so"
loadmodule "rr.so"
loadmodule "maxfwd.so"
loadmodule "textops.so"
loadmodule "siputils.so"
loadmodule "usrloc.so"
loadmodule "registrar.so"
loadmodule "auth.so"
modparam("usrloc", "db_mode", 0)
modparam("registrar", "min_expires", 900)
modparam("registrar", "gruu_enabled", 0)
request_route {
  if (!mf_process_maxfwd_header("10")) { sl_send_reply("483", "Too Many Hops"); exit; }
  if (has_totag()) {
    if (loose_route()) { t_relay(); exit; }
    if (is_method("ACK") && t_check_trans()) { t_relay(); exit; }
    sl_send_reply("404", "Not Here"); exit;
  }
  if (is_method("CANCEL")) { if (t_check_trans()) t_relay(); exit; }
  if (is_method("OPTIONS")) { sl_send_reply("200", "OK"); exit; }
  if (is_method("REGISTER")) {
    if (!pv_www_authenticate("exchange.test", "%[3]s", "0")) { auth_challenge("exchange.test", "1"); exit; }
    if ($au != $tU) { sl_send_reply("403", "Forbidden"); exit; }
    save("location"); exit;
  }
  if (is_method("INVITE")) {
    if (!pv_proxy_authenticate("exchange.test", "%[3]s", "0")) { auth_challenge("exchange.test", "1"); exit; }
    consume_credentials();
    record_route();
  }
  $ru = "sip:" + $rU + "@exchange.test";
  if (!lookup("location")) { sl_send_reply("404", "Not Found"); exit; }
  t_relay();
}
`

// kamailio starts an exchange with accounts that all have one password, and returns its address.
func kamailio(t *testing.T) (address string) {
	t.Helper()
	path := need.Program(t, "kamailio", "kamailio")
	modules, _ := filepath.Glob("/usr/lib/*/kamailio/modules")
	need.That(t, len(modules) > 0, "the modules of kamailio are missing: install Debian's package kamailio")
	dir, port := t.TempDir(), siptest.Reserve(t)
	config := filepath.Join(dir, "kamailio.cfg")
	text := fmt.Sprintf(kamailioConfig, port, modules[0], exchangePassword)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := &bytes.Buffer{}
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, path, "-f", config, "-DD", "-E", "-m", "32", "-M", "4", "-Y", dir, "-w", dir)
	c.Dir, c.Stdout, c.Stderr = dir, out, out
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // it ends its processes
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = c.Wait()
		if t.Failed() {
			t.Logf("kamailio showed:\n%s", out.String())
		}
	})
	siptest.Listens(t, "tcp", port)
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// A line of an exchange is registered there. A telephone of the exchange calls the line, and the line calls it.
func TestALineOfAnExchangeIsRegisteredCalledAndCalls(t *testing.T) {
	need.Sound(t)
	t.Parallel()
	for _, transport := range []string{"udp", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			address := kamailio(t)
			line := Line{Company: "c1", ID: "front", Number: "15555550100", Trunk: Trunk{
				Host: address, Transport: transport, Domain: "exchange.test", Username: "15555550100", Password: exchangePassword,
				Register: true,
			}}
			all := func(context.Context) ([]Line, error) { return []Line{line}, nil }
			e, calls, got := answers(t, Options{Lines: all})
			becomes(t, "the registration", func() bool { return time.Now().Before(e.Registration("c1", "front").Until) })
			if s := e.Registration("c1", "front"); s.Until.Sub(s.At) != 15*time.Minute { // the exchange wants it
				t.Errorf("%+v", s)
			}
			theirs := tone(4*time.Second, 3)
			l := siptest.NewLinphone(t, theirs, siptest.LinphoneOptions{})
			route := fmt.Sprintf("sip:%s;transport=%s", address, transport)
			l.Does(fmt.Sprintf("register sip:ana@127.0.0.1 %s %s ana exchange.test", route, exchangePassword))
			becomes(t, "its registration", func() bool { return strings.Contains(l.Does("register-status ALL"), "LinphoneRegistrationOk") })

			l.Does("call sip:15555550100@" + strings.TrimPrefix(route, "sip:"))
			call := await(t, calls)
			l.Speaks()
			becomes(t, "its sound", func() bool { return heardIn(got.all(), theirs[:8000]) >= mostly })
			call.HangUp(t.Context())
			becomes(t, "the end of the call", func() bool { return l.Shows("LinphoneCallReleased") })

			placed, err := e.Dial(t.Context(), Dial{Trunk: line.Trunk, To: "ana", From: "15555550100"})
			if err != nil {
				t.Fatal(err)
			}
			l.Does("dtmf 5")
			digits(t, placed, "5")
			l.Does("terminate")
			if cause := ended(t, placed); cause.By != Them {
				t.Errorf("%+v", cause)
			}
		})
	}
}
