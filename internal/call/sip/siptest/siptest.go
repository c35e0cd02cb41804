// Package siptest runs telephones of other makes, for tests: baresip, linphone and sipp.
package siptest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/base/audio"
)

// Hung is the time after which a wait counts as hung.
const Hung = 2 * time.Minute

const poll = 5 * time.Millisecond

// program is a running program that prints what happens.
type program struct {
	t    *testing.T
	name string
	dir  string
	keys io.Writer // its standard input

	mu    sync.Mutex
	shown bytes.Buffer
}

// Write implements io.Writer.
func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown.Write(b)
}

// start runs the program until the end of the test.
func (p *program) start(path string, args ...string) {
	p.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, path, args...)
	c.Dir, c.Env, c.Stdout, c.Stderr = p.dir, []string{"HOME=" + p.dir, "PATH=" + os.Getenv("PATH"), "TERM=dumb"}, p, p
	in, err := c.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	p.keys = in
	if err := c.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Wait()
	}()
	p.t.Cleanup(func() {
		cancel()
		<-ended
		if p.t.Failed() {
			p.t.Logf("%s showed:\n%s", p.name, p.Shown())
		}
	})
}

// Shown returns the text that the program printed.
func (p *program) Shown() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown.String()
}

// Shows waits until the program prints a text.
func (p *program) Shows(what string) bool { return p.showsAfter(0, what) }

func (p *program) showsAfter(from int, what string) bool {
	for end := time.Now().Add(Hung); ; time.Sleep(poll) {
		found := strings.Contains(p.Shown()[from:], what)
		if found || time.Now().After(end) {
			return found
		}
	}
}

// recorded returns the sound that the program has recorded so far in files of a name, of which there should be one.
func (p *program) recorded(pattern string) []int16 {
	p.t.Helper()
	all, err := filepath.Glob(filepath.Join(p.dir, pattern))
	if err != nil || len(all) > 1 {
		p.t.Fatalf("%d recordings, %v", len(all), err)
	}
	if len(all) == 0 {
		return nil
	}
	wav, err := os.ReadFile(all[0])
	if err != nil {
		p.t.Fatal(err)
	}
	const header = 44
	if len(wav) < header {
		return nil
	}
	if !bytes.HasPrefix(wav, []byte("RIFF")) { // linphone writes the header at the end
		return audio.Samples(wav[header:])
	}
	pcm, rate, err := audio.ReadWAV(bytes.NewReader(wav), len(wav))
	if err != nil || rate != 8000 {
		p.t.Fatalf("a recording of rate %d, %v", rate, err)
	}
	return pcm
}

// Reserve finds four consecutive free ports for UDP and TCP, and returns the first: sipp uses the third for video.
// Each port is returned only once, and ports in the system's ephemeral range are avoided.
func Reserve(t *testing.T) int {
	t.Helper()
	free := func(port int) bool {
		address := fmt.Sprintf("127.0.0.1:%d", port)
		u, err := net.ListenPacket("udp4", address)
		if err != nil {
			return false
		}
		defer u.Close()
		l, err := net.Listen("tcp4", address)
		if err != nil {
			return false
		}
		return l.Close() == nil
	}
	for range 500 {
		port := 20000 + 4*mathrand.IntN(3000)
		if free(port) && free(port+1) && free(port+2) && free(port+3) {
			if _, again := reserved.LoadOrStore(port, true); !again {
				return port
			}
		}
	}
	t.Fatal("no ports are free")
	return 0
}

var reserved sync.Map //nolint:gochecknoglobals // of all tests, which run in parallel

// Listens waits until a program listens on a port. Opening the port would conflict with the program, and a connection
// would count as a call.
func Listens(t *testing.T, network string, port int) {
	t.Helper()
	for end := time.Now().Add(Hung); time.Now().Before(end); time.Sleep(poll) {
		sockets, err := os.ReadFile("/proc/net/" + network)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(sockets)) {
			const listen = "0A" // a listening socket, not a connection
			f := strings.Fields(line)
			if len(f) > 3 && strings.HasSuffix(f[1], fmt.Sprintf(":%04X", port)) && (network == "udp" || f[3] == listen) {
				return
			}
		}
	}
	t.Fatalf("nobody listens on port %d", port)
}

// Certificate returns a certificate of 127.0.0.1 for both sides of TLS, and writes it to a file unless path is empty.
func Certificate(t *testing.T, path string) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "127.0.0.1"}, NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:        true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	if path != "" {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own, err := tls.X509KeyPair(text, text)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}
}
