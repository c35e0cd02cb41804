package sip

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/base/audio"
	"carillon/internal/base/need"
)

// linphone is a telephone of another make, controlled by its commands.
type linphone struct {
	output
	t        *testing.T
	dir      string
	port     int
	commands io.Writer
}

const linphoneConfig = `[sip]
sip_port=%[1]d
sip_tcp_port=%[1]d
contact="Lin" <sip:lin@127.0.0.1>
use_info=%[4]d
use_rfc2833=%[5]d
media_encryption=%[3]s
media_encryption_mandatory=%[6]d
guess_hostname=0
use_ipv6=0
verify_server_certs=0
verify_server_cn=0
register_only_when_network_is_up=0
[rtp]
audio_rtp_port=%[2]d
[sound]
echocancellation=0
[audio_codec_0]
mime=PCMU
rate=8000
channels=1
enabled=%[8]d
[audio_codec_1]
mime=PCMA
rate=8000
channels=1
enabled=%[8]d
[audio_codec_2]
mime=opus
rate=48000
channels=2
enabled=%[7]d
`

// linphoneOptions are the ways in which a test's telephone differs.
type linphoneOptions struct {
	encryption string // none or srtp
	info       bool   // sends digits by INFO, not in the sound
	opus       bool   // has Opus, and no G.711
}

// lin starts a linphone that answers calls and says something.
func lin(t *testing.T, say []int16, o linphoneOptions) *linphone {
	t.Helper()
	path := need.Program(t, "linphone-daemon", "linphone-cli")
	l := &linphone{t: t, dir: t.TempDir(), port: reserve(t)}
	number := map[bool]int{true: 1}
	config := fmt.Sprintf(linphoneConfig, l.port, reserve(t), o.encryption, number[o.info], number[!o.info],
		number[o.encryption == "srtp"], number[o.opus], number[!o.opus])
	for name, text := range map[string]string{"rc": config, "say.wav": string(audio.WAV(say, 8000))} {
		if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{".local/share/linphone", ".config/linphone"} {
		if err := os.MkdirAll(filepath.Join(l.dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, path,
		"--config", filepath.Join(l.dir, "rc"), "--auto-answer", "--disable-stats-events", "--log", "/dev/null")
	c.Dir, c.Env, c.Stdout, c.Stderr = l.dir, []string{"HOME=" + l.dir, "PATH=" + os.Getenv("PATH")}, l, l
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	l.commands = in
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Wait()
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		if t.Failed() {
			t.Logf("linphone showed:\n%s", l.shown.String())
		}
	})
	l.does("version") // its ports are open then
	return l
}

// does sends a command, and returns its result.
func (l *linphone) does(command string) string {
	l.t.Helper()
	l.mu.Lock()
	before := l.shown.Len()
	l.mu.Unlock()
	_, _ = io.WriteString(l.commands, command+"\n")
	for end := time.Now().Add(hung); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		l.mu.Lock()
		_, result, done := strings.Cut(l.shown.String()[before:], "Status: ")
		l.mu.Unlock()
		if result, _, done = strings.Cut(result, "daemon-linphone>"); done {
			if !strings.HasPrefix(result, "Ok") {
				l.t.Fatalf("%s: %s", command, result)
			}
			return result
		}
	}
	l.t.Fatalf("%s: no result", command)
	return ""
}

// speaks has it say its words once the sound of its first call goes.
func (l *linphone) speaks() {
	l.t.Helper()
	if !l.shows("LinphoneCallStreamsRunning") {
		l.t.Fatal("its sound does not begin")
	}
	l.does("incall-player-start " + filepath.Join(l.dir, "say.wav"))
}

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
		o               linphoneOptions
	}{
		{"udp", "udp", linphoneOptions{encryption: "none"}},
		{"tcp, digits by INFO", "tcp", linphoneOptions{encryption: "none", info: true}},
		{"Opus alone", "udp", linphoneOptions{encryption: "none", opus: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			theirs, ours := sweep(4*time.Second), tone(1200*time.Millisecond, 9)
			l := lin(t, theirs, c.o)
			trunk := Trunk{Host: fmt.Sprintf("127.0.0.1:%d", l.port), Transport: c.transport}
			e := engine(t, Options{})
			var got recording
			call, err := e.Dial(t.Context(), Dial{Trunk: trunk, To: "lin", From: "15555550101", OnFrame: got.frame})
			if err != nil {
				t.Fatal(err)
			}
			l.speaks()
			_ = call.Write(ours)
			becomes(t, "its sound", func() bool { return heardIn(got.all(), theirs[:8000]) >= mostly })
			l.does("call-pause 1")
			becomes(t, "the hold", func() bool { return call.Held() && l.shows("LinphoneCallPaused\n") })
			l.does("call-resume 1")
			becomes(t, "the end of the hold", func() bool { return !call.Held() && l.shows("LinphoneCallResuming") })
			l.does("dtmf 7")
			digits(t, call, "7")
			l.does("terminate")
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
	l := lin(t, theirs, linphoneOptions{encryption: "srtp"})
	e, calls, got := answers(t, Options{TLS: "127.0.0.1:0", TLSFiles: certificate(t, "")})
	l.does(fmt.Sprintf("call sip:15555550100@%s;transport=tls", e.SecureAddress()))
	call := await(t, calls)
	if !call.Encrypted() {
		t.Error("not encrypted")
	}
	l.speaks()
	becomes(t, "its sound", func() bool { return heardIn(got.all(), theirs[:8000]) >= mostly })
	l.does("dtmf 9")
	digits(t, call, "9")
	l.does("terminate")
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
	dir, port := t.TempDir(), reserve(t)
	config := filepath.Join(dir, "kamailio.cfg")
	text := fmt.Sprintf(kamailioConfig, port, modules[0], exchangePassword)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := &output{}
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
			t.Logf("kamailio showed:\n%s", out.shown.String())
		}
	})
	listens(t, "tcp", port)
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
			l := lin(t, theirs, linphoneOptions{encryption: "none"})
			route := fmt.Sprintf("sip:%s;transport=%s", address, transport)
			l.does(fmt.Sprintf("register sip:ana@127.0.0.1 %s %s ana exchange.test", route, exchangePassword))
			becomes(t, "its registration", func() bool { return strings.Contains(l.does("register-status ALL"), "LinphoneRegistrationOk") })

			l.does("call sip:15555550100@" + strings.TrimPrefix(route, "sip:"))
			call := await(t, calls)
			l.speaks()
			becomes(t, "its sound", func() bool { return heardIn(got.all(), theirs[:8000]) >= mostly })
			call.HangUp(t.Context())
			becomes(t, "the end of the call", func() bool { return l.shows("LinphoneCallReleased") })

			placed, err := e.Dial(t.Context(), Dial{Trunk: line.Trunk, To: "ana", From: "15555550100"})
			if err != nil {
				t.Fatal(err)
			}
			l.does("dtmf 5")
			digits(t, placed, "5")
			l.does("terminate")
			if cause := ended(t, placed); cause.By != Them {
				t.Errorf("%+v", cause)
			}
		})
	}
}
