package siptest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"carillon/internal/base/audio"
	"carillon/internal/base/need"
)

// Baresip answers calls and speaks.
type Baresip struct {
	program
	Port    int
	console net.Conn // control connection to press keys
}

const baresipConfig = `poll_method epoll
sip_listen 127.0.0.1:%[1]d
sip_certificate %[2]s/cert.pem
audio_player aubridge,nil
audio_source aufile,%[2]s/say.wav
audio_alert aubridge,alert
module_path %[5]s
module g711.so
module aufile.so
module aubridge.so
module sndfile.so
module srtp.so
module cons.so
module_tmp uuid.so
module_app account.so
module_app menu.so
snd_path %[2]s
cons_listen 127.0.0.1:%[3]d
rtp_ports %[4]d-%[6]d
`

// NewBaresip starts a baresip that answers calls to a user and says something. more are parameters of its account.
func NewBaresip(t *testing.T, user string, say []int16, more string) *Baresip {
	t.Helper()
	path := need.Program(t, "baresip", "baresip")
	modules, err := filepath.Glob("/usr/lib*/baresip/modules")
	if more, _ := filepath.Glob("/usr/lib/*/baresip/modules"); err == nil {
		modules = append(modules, more...)
	}
	if len(modules) == 0 {
		t.Fatal("the modules of baresip are missing")
	}
	b := &Baresip{program: program{t: t, name: "baresip", dir: t.TempDir()}, Port: Reserve(t)}
	console, media := Reserve(t), Reserve(t)&^1
	Certificate(t, filepath.Join(b.dir, "cert.pem"))
	for name, text := range map[string]string{
		"config":   fmt.Sprintf(baresipConfig, b.Port, b.dir, console, media, modules[0], media+20),
		"accounts": fmt.Sprintf("<sip:%s@127.0.0.1:%d>;regint=0;answermode=auto;audio_codecs=PCMU,PCMA%s\n", user, b.Port, more),
		"contacts": "",
		"say.wav":  string(audio.WAV(say, 8000)),
	} {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.start(path, "-4", "-f", b.dir, "-t", fmt.Sprint(Hung.Seconds()))
	if !b.Shows("baresip is ready") {
		t.Fatal("baresip does not start")
	}
	if b.console, err = net.Dial("udp4", fmt.Sprintf("127.0.0.1:%d", console)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.console.Close() })
	return b
}

// Press presses a key: a digit, or a key of its menu.
func (b *Baresip) Press(key rune) { _, _ = b.console.Write([]byte(string(key))) }

// Heard returns the sound that baresip has received in its only call.
func (b *Baresip) Heard() []int16 { return b.recorded("dump-*-dec.wav") }

// HangUp ends its call.
func (b *Baresip) HangUp() { b.Press('b') }

// Address returns its address.
func (b *Baresip) Address() string { return fmt.Sprintf("127.0.0.1:%d", b.Port) }

// Call calls an address.
func (b *Baresip) Call(address string) {
	for _, key := range "/dial " + address + "\n" {
		b.Press(key)
	}
}
