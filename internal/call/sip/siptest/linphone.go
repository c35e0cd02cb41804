package siptest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carillon/internal/base/audio"
	"carillon/internal/base/need"
)

// Linphone answers calls, and is controlled by its commands.
type Linphone struct {
	program
	Port int
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

// LinphoneOptions are the ways in which a test's telephone differs.
type LinphoneOptions struct {
	Encrypted bool // by SRTP
	Info      bool // sends digits by INFO, not in the sound
	Opus      bool // has Opus, and no G.711
}

// NewLinphone starts a linphone without a sound card: it says something once Speaks is called, and is deaf.
func NewLinphone(t *testing.T, say []int16, o LinphoneOptions) *Linphone {
	t.Helper()
	l := configured(t, "linphone-daemon", say, o)
	l.start(need.Program(t, l.name, "linphone-cli"),
		"--config", l.file("rc"), "--auto-answer", "--disable-stats-events", "--log", "/dev/null")
	l.Does("version") // its ports are open then
	return l
}

// configured prepares a linphone.
func configured(t *testing.T, name string, say []int16, o LinphoneOptions) *Linphone {
	t.Helper()
	l := &Linphone{program: program{t: t, name: name, dir: t.TempDir()}, Port: Reserve(t)}
	number, encryption := map[bool]int{true: 1}, map[bool]string{false: "none", true: "srtp"}
	config := fmt.Sprintf(linphoneConfig, l.Port, Reserve(t), encryption[o.Encrypted], number[o.Info], number[!o.Info],
		number[o.Encrypted], number[o.Opus], number[!o.Opus])
	for name, text := range map[string]string{"rc": config, "say.wav": string(audio.WAV(say, 8000))} {
		if err := os.WriteFile(l.file(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{".local/share/linphone", ".config/linphone"} {
		if err := os.MkdirAll(l.file(folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func (l *Linphone) file(name string) string { return filepath.Join(l.dir, name) }

// Does sends a command, and returns its result.
func (l *Linphone) Does(command string) string {
	l.t.Helper()
	before := len(l.Shown())
	_, _ = io.WriteString(l.keys, command+"\n")
	for end := time.Now().Add(Hung); time.Now().Before(end); time.Sleep(poll) {
		_, result, done := strings.Cut(l.Shown()[before:], "Status: ")
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

// Speaks makes it say its words once its first call has sound.
func (l *Linphone) Speaks() {
	l.t.Helper()
	if !l.Shows("LinphoneCallStreamsRunning") {
		l.t.Fatal("its sound does not begin")
	}
	l.Does("incall-player-start " + l.file("say.wav"))
}

// Desk is a linphone that answers, speaks from the answer, and records the received sound.
type Desk struct{ *Linphone }

const deskPrompt = "linphonec> "

// NewDesk starts a desk.
func NewDesk(t *testing.T, say []int16, o LinphoneOptions) Desk {
	t.Helper()
	d := Desk{configured(t, "linphonec", say, o)}
	d.start(need.Program(t, d.name, "linphone-cli"), "-a", "-c", d.file("rc"), "-l", "/dev/null")
	if !d.Shows(deskPrompt) {
		t.Fatal("linphone does not start")
	}
	d.Does("soundcard use files")
	d.Does("play " + d.file("say.wav"))
	d.Does("record " + d.file("heard.wav"))
	return d
}

// Does sends a command, or a digit, and waits until it is done.
func (d Desk) Does(command string) {
	d.t.Helper()
	before := len(d.Shown())
	_, _ = io.WriteString(d.keys, command+"\n")
	if !d.showsAfter(before, deskPrompt) {
		d.t.Fatalf("%s: no prompt", command)
	}
}

// Heard returns the sound that it has received in its only call.
func (d Desk) Heard() []int16 { return d.recorded("heard.wav") }

// Press sends a digit.
func (d Desk) Press(digit rune) { d.Does(string(digit)) }

// HangUp ends its call.
func (d Desk) HangUp() { d.Does("terminate") }

// Address returns its address.
func (l *Linphone) Address() string { return fmt.Sprintf("127.0.0.1:%d", l.Port) }
