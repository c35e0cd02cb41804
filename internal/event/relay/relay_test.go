package relay_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"carillon/internal/event/realtime"
	"carillon/internal/event/relay"
)

const hung = 2 * time.Minute

// database connects the buses of nodes in memory, as NOTIFY does.
type database struct {
	mu       sync.Mutex
	received []func(payload string)
}

func (d *database) Notify(_ context.Context, _, payload string) error {
	d.mu.Lock()
	all := d.received
	d.mu.Unlock()
	for _, f := range all {
		f(payload)
	}
	return nil
}

func (d *database) Listen(ctx context.Context, _ string, ready func(), received func(payload string)) error {
	d.mu.Lock()
	d.received = append(d.received, received)
	d.mu.Unlock()
	ready()
	<-ctx.Done()
	return ctx.Err()
}

// serve starts a NATS server.
func serve(t *testing.T, change func(o *server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true}
	if change != nil {
		change(o)
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(hung) {
		t.Fatal("it hangs: NATS is not ready")
	}
	return s
}

// proxy passes connections on to a server. While it is frozen it passes on nothing, as a stopped server.
type proxy struct {
	listener net.Listener
	mu       sync.Mutex
	passing  chan struct{} // closed while it passes on
	conns    []net.Conn
}

func through(t *testing.T, address string) *proxy {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, passing: make(chan struct{})}
	close(p.passing)
	go func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", address)
			if err != nil {
				_ = here.Close()
				continue
			}
			p.mu.Lock()
			p.conns = append(p.conns, here, there)
			p.mu.Unlock()
			go p.copy(here, there)
			go p.copy(there, here)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		p.cut()
		p.thaw()
	})
	return p
}

func (p *proxy) copy(from, to net.Conn) {
	defer func() { _ = from.Close(); _ = to.Close() }()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		p.mu.Lock()
		passing := p.passing
		p.mu.Unlock()
		<-passing
		if _, werr := to.Write(b[:n]); err != nil || werr != nil {
			return
		}
	}
}

func (p *proxy) url() string { return "nats://" + p.listener.Addr().String() }

func (p *proxy) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passing = make(chan struct{})
}

func (p *proxy) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.passing:
	default:
		close(p.passing)
	}
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

// node is the relay of a node with its bus.
type node struct {
	*relay.Relay
	t   *testing.T
	log *safeBuffer
}

type safeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

var key = bytes.Repeat([]byte{7}, 32)

func join(t *testing.T, d *database, o relay.Options) *node {
	t.Helper()
	n := &node{t: t, log: new(safeBuffer)}
	log := slog.New(slog.NewTextHandler(n.log, nil))
	bus := realtime.NewBus(d, log)
	o.Announce, o.Log = bus.Publish, log
	if o.Key == nil {
		o.Key = key
	}
	var err error
	if n.Relay, err = relay.New(o); err != nil {
		t.Fatal(err)
	}
	bus.Add(n.Kind())
	run(t, bus.Run, n.Run)
	return n
}

func run(t *testing.T, all ...func(context.Context) error) {
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	for _, f := range all {
		done.Go(func() {
			if err := f(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() { stop(); done.Wait() })
}

// within waits until a condition holds.
func within(t *testing.T, what string, holds func() bool) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for late := time.After(hung); !holds(); {
		select {
		case <-look.C:
		case <-late:
			t.Fatalf("it hangs: %s", what)
		}
	}
}

func active(t *testing.T, want bool, nodes ...*node) {
	t.Helper()
	for i, n := range nodes {
		within(t, fmt.Sprintf("node %d is active: %v; its log:\n%s", i, want, n.log), func() bool { return n.Active() == want })
	}
}

// hear subscribes and returns the payloads.
func (n *node) hear(company, topic string) <-chan string {
	n.t.Helper()
	heard := make(chan string, 10_000)
	n.t.Cleanup(n.Subscribe(company, topic, func(payload []byte) { heard <- string(payload) }))
	return heard
}

// send publishes a payload until it is heard, because the subscription may not be active yet.
func (n *node) send(company, topic, payload string, heard <-chan string) {
	n.t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for late := time.After(hung); ; {
		n.Publish(company, topic, []byte(payload))
		for waiting := true; waiting; {
			select {
			case got := <-heard:
				if got == payload {
					return
				}
			case <-again.C:
				waiting = false
			case <-late:
				n.t.Fatalf("it hangs: nothing of %s; the log:\n%s", payload, n.log)
			}
		}
	}
}

func TestAMessageReachesTheOtherNodesInItsCompanyAndTopic(t *testing.T) {
	t.Parallel()
	s, d := serve(t, nil), new(database)
	one, two, three := join(t, d, relay.Options{URL: s.ClientURL()}), join(t, d, relay.Options{URL: s.ClientURL()}),
		join(t, d, relay.Options{URL: s.ClientURL()})
	active(t, true, one, two, three)
	stranger := join(t, new(database), relay.Options{URL: s.ClientURL(), Key: bytes.Repeat([]byte{8}, 32)})
	names := []string{"a", "b", "a.b", "*", ">", "", "ä b", "A"}
	heard := map[string]<-chan string{}
	for _, company := range names {
		for _, topic := range names {
			heard[company+"|"+topic] = two.hear(company, topic)
		}
	}
	own, elsewhere, third := one.hear("a", "b"), stranger.hear("a", "b"), three.hear("a", "b")
	one.send("a", "b", "first", third)
	for _, company := range names {
		for _, topic := range names {
			one.send(company, topic, company+"|"+topic, heard[company+"|"+topic])
		}
	}
	two.send("a", "b", "last", own)
	for name, all := range heard {
		for len(all) > 0 {
			if got := <-all; got != name && got != "first" {
				t.Errorf("%s heard %s", name, got)
			}
		}
	}
	if len(elsewhere) != 0 {
		t.Errorf("another installation heard %s", <-elsewhere)
	}
	for len(own) > 0 {
		if got := <-own; got != "last" {
			t.Errorf("a node heard itself: %s", got)
		}
	}
	end := two.Subscribe("a", "ended", func([]byte) { t.Error("an ended subscription received") })
	end()
	end()
	one.Publish("a", "ended", []byte("x"))
	one.send("a", "b", "after", third)
}

func TestAKilledServerIsReplacedByTheDatabaseUntilItIsBack(t *testing.T) {
	t.Parallel()
	s, d := serve(t, nil), new(database)
	port := s.Addr().(*net.TCPAddr).Port
	one, two := join(t, d, relay.Options{URL: s.ClientURL()}), join(t, d, relay.Options{URL: s.ClientURL()})
	active(t, true, one, two)
	heard := two.hear("a", "b")
	one.send("a", "b", "before", heard)
	s.Shutdown()
	s.WaitForShutdown()
	active(t, false, one, two)
	// The other node may have noticed it first.
	within(t, "it is disconnected", func() bool { return !one.Counts().Connected })
	one.Publish("a", "b", []byte("lost"))
	within(t, "the message is counted", func() bool { return one.Counts().Offline > 0 })
	serve(t, func(o *server.Options) { o.Port = port })
	active(t, true, one, two)
	one.send("a", "b", "after", heard)
	if x := one.Counts(); !x.Connected || x.Disconnects != 1 {
		t.Errorf("the counts are %+v", x)
	}
	for _, line := range []string{
		"connected to NATS", "no connection to NATS", "teammates' sound over the database", "teammates' sound over NATS",
	} {
		if !strings.Contains(one.log.String(), line) {
			t.Errorf("the log lacks %s:\n%s", line, one.log)
		}
	}
}

func TestAFrozenServerIsReplacedByTheDatabaseUntilItGoesOn(t *testing.T) {
	t.Parallel()
	s, d := serve(t, nil), new(database)
	p := through(t, s.Addr().String())
	one, two := join(t, d, relay.Options{URL: p.url()}), join(t, d, relay.Options{URL: p.url()})
	active(t, true, one, two)
	heard := two.hear("a", "b")
	for range 2 {
		one.send("a", "b", "before", heard)
		p.freeze()
		stop := make(chan struct{})
		var flood sync.WaitGroup
		flood.Go(func() { // more than the buffers of the connection hold
			for {
				select {
				case <-stop:
					return
				default:
					one.Publish("a", "c", make([]byte, 16_000))
				}
			}
		})
		active(t, false, one, two)
		close(stop)
		flood.Wait()
		p.thaw()
		active(t, true, one, two)
		one.send("a", "b", "after", heard)
	}
}

func TestOneNodeWithoutNATSKeepsAllOnTheDatabase(t *testing.T) {
	t.Parallel()
	s, d := serve(t, nil), new(database)
	p := through(t, s.Addr().String())
	one, two := join(t, d, relay.Options{URL: s.ClientURL()}), join(t, d, relay.Options{URL: p.url()})
	active(t, true, one, two)
	p.freeze()
	active(t, false, one, two)
	if !strings.Contains(one.log.String(), `reason="a node is not reached over NATS"`) {
		t.Errorf("the log of the connected node:\n%s", one.log)
	}
	p.thaw()
	active(t, true, one, two)

	ctx, leave := context.WithCancel(t.Context())
	bus := realtime.NewBus(d, slog.New(slog.DiscardHandler))
	bus.Add(relay.Absent("other", bus.Publish))
	var done sync.WaitGroup
	done.Go(func() { _ = bus.Run(ctx) }) // a node without the setting
	active(t, false, one, two)
	leave()
	done.Wait()
}

func TestTwoServersThatDoNotKnowEachOtherAreNotUsed(t *testing.T) {
	t.Parallel()
	d := new(database)
	one, two := join(t, d, relay.Options{URL: serve(t, nil).ClientURL()}), join(t, d, relay.Options{URL: serve(t, nil).ClientURL()})
	for _, n := range []*node{one, two} {
		within(t, "it is connected", func() bool { return n.Counts().Connected })
	}
	active(t, false, one, two)
}

func TestForgedMessagesAreRefused(t *testing.T) {
	t.Parallel()
	s, d := serve(t, nil), new(database)
	one, two := join(t, d, relay.Options{URL: s.ClientURL()}), join(t, d, relay.Options{URL: s.ClientURL()})
	active(t, true, one, two)
	c, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	spied := make(chan *nats.Msg, 10_000)
	if _, err := c.ChanSubscribe("carillon.>", spied); err != nil {
		t.Fatal(err)
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	ours, theirs := two.hear("ours", "topic"), two.hear("theirs", "topic")
	one.send("ours", "topic", "a secret", ours)
	one.send("theirs", "topic", "x", theirs)
	var real *nats.Msg
	subject := map[string]string{}
	for len(subject) < 2 {
		m := <-spied
		if bytes.Contains(m.Data, []byte("a secret")) {
			t.Fatalf("%s is readable", m.Subject)
		}
		for _, company := range []string{"ours", "theirs"} {
			if strings.Contains(m.Subject, "."+company+".") {
				subject[company] = m.Subject
			}
		}
		if strings.Contains(m.Subject, ".ours.") {
			real = m
		}
	}
	before := two.Counts().Refused
	flipped := bytes.Clone(real.Data)
	flipped[len(flipped)-1] ^= 1
	forged := [][]byte{nil, {0}, []byte(`{"k":"typing"}`), make([]byte, 100), make([]byte, 900_000), flipped, real.Data[:len(real.Data)-1]}
	for _, data := range forged {
		if err := c.Publish(subject["ours"], data); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Publish(subject["theirs"], real.Data); err != nil { // of another company
		t.Fatal(err)
	}
	within(t, "all are refused", func() bool { return two.Counts().Refused-before == int64(len(forged)+1) })
	signs := ""
	for signs == "" {
		if m := <-spied; strings.HasSuffix(m.Subject, ".nodes") {
			signs = m.Subject
		}
	}
	if err := c.Publish(signs, []byte("a node")); err != nil {
		t.Fatal(err)
	}
	one.Publish("ours", "topic", make([]byte, 17<<10))
	if one.Counts().Refused == 0 {
		t.Error("a message of 17 KiB is sent")
	}
	one.send("ours", "topic", "real", ours)
	for len(ours) > 0 { // send may have repeated its messages
		if got := <-ours; got != "a secret" && got != "real" {
			t.Errorf("a forged message was heard: %q", got)
		}
	}
	for len(theirs) > 0 {
		if got := <-theirs; got != "x" {
			t.Errorf("a message of another company was heard: %q", got)
		}
	}
	active(t, true, one, two)
}

func TestABusyCompanyLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	s, d := serve(t, nil), new(database)
	one, two := join(t, d, relay.Options{URL: s.ClientURL()}), join(t, d, relay.Options{URL: s.ClientURL()})
	active(t, true, one, two)
	stuck, blocked := make(chan struct{}), make(chan struct{})
	free := sync.OnceFunc(func() { close(stuck) })
	t.Cleanup(free)
	block := sync.OnceFunc(func() { close(blocked) })
	t.Cleanup(two.Subscribe("busy", "topic", func([]byte) { block(); <-stuck }))
	ours := two.hear("ours", "topic")
	one.send("ours", "topic", "before", ours)
	within(t, "its subscription is behind", func() bool {
		for range 200 {
			one.Publish("busy", "topic", make([]byte, 10_000))
		}
		return two.Counts().Slow > 0 && one.Counts().Full > 0
	})
	<-blocked
	one.send("ours", "topic", "meanwhile", ours)
	free()
	active(t, true, one, two)
}

func TestCredentialsAndCertificatesAreChecked(t *testing.T) {
	t.Parallel()
	ca, certificate := authority(t)
	d := new(database)
	s := serve(t, func(o *server.Options) {
		o.Username, o.Password = "node", "hunter2"
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
		o.TLSTimeout = 10
	})
	address := "127.0.0.1:" + fmt.Sprint(s.Addr().(*net.TCPAddr).Port)
	good := "tls://node:hunter2@" + address
	one, two := join(t, d, relay.Options{URL: good, CA: ca}), join(t, d, relay.Options{URL: good, CA: ca})
	active(t, true, one, two)
	for _, o := range []relay.Options{
		{URL: good},
		{URL: "tls://node:hunter2wrong@" + address, CA: ca},
		{URL: "tls://" + address, CA: ca},
	} {
		n := join(t, new(database), o)
		within(t, "the refusal is logged", func() bool { return strings.Contains(n.log.String(), "no connection to NATS") })
		if n.Active() || n.Counts().Connected || strings.Contains(n.log.String(), "hunter2") {
			t.Errorf("active: %v; the log:\n%s", n.Active(), n.log)
		}
	}
	plain := serve(t, nil)
	n := join(t, new(database), relay.Options{URL: strings.Replace(plain.ClientURL(), "nats:", "tls:", 1)})
	within(t, "a server without TLS is refused", func() bool { return strings.Contains(n.log.String(), "no connection to NATS") })
	if strings.Contains(one.log.String(), "hunter2") {
		t.Errorf("the log:\n%s", one.log)
	}
}

func TestAFileOfCredentialsIsUsed(t *testing.T) {
	t.Parallel()
	operator, account, user := pair(t, nkeys.CreateOperator), pair(t, nkeys.CreateAccount), pair(t, nkeys.CreateUser)
	claims := jwt.NewAccountClaims(public(t, account))
	accountJWT, err := claims.Encode(operator)
	if err != nil {
		t.Fatal(err)
	}
	resolver := new(server.MemAccResolver)
	if err := resolver.Store(public(t, account), accountJWT); err != nil {
		t.Fatal(err)
	}
	s := serve(t, func(o *server.Options) {
		o.TrustedKeys, o.AccountResolver = []string{public(t, operator)}, resolver
	})
	userJWT, err := jwt.NewUserClaims(public(t, user)).Encode(account)
	if err != nil {
		t.Fatal(err)
	}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(userJWT, seed)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "node.creds")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	d := new(database)
	one := join(t, d, relay.Options{URL: s.ClientURL(), Credentials: file})
	active(t, true, one)
	without := join(t, d, relay.Options{URL: s.ClientURL()})
	active(t, false, one, without)
	if strings.Contains(one.log.String()+without.log.String(), string(seed)) {
		t.Error("the log has the seed")
	}
}

func pair(t *testing.T, create func() (nkeys.KeyPair, error)) nkeys.KeyPair {
	t.Helper()
	p, err := create()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func public(t *testing.T, p nkeys.KeyPair) string {
	t.Helper()
	key, err := p.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestFilesAreCheckedAtTheStart(t *testing.T) {
	t.Parallel()
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range []relay.Options{{Credentials: bad}, {CA: bad}, {CA: bad + "2"}, {Credentials: bad + "2"}} {
		o.URL, o.Key, o.Log = "nats://127.0.0.1:1", key, slog.New(slog.DiscardHandler)
		if _, err := relay.New(o); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), bad) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func FuzzMessage(f *testing.F) {
	d := new(database)
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		f.Fatal(err)
	}
	s.Start()
	f.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	o := relay.Options{URL: s.ClientURL(), Key: key, Log: slog.New(slog.DiscardHandler)}
	bus := realtime.NewBus(d, o.Log)
	o.Announce = bus.Publish
	r, err := relay.New(o)
	if err != nil {
		f.Fatal(err)
	}
	bus.Add(r.Kind())
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { _ = r.Run(ctx) })
	f.Cleanup(func() { stop(); done.Wait() })
	r.Subscribe("a", "b", func([]byte) { panic("a forged message is heard") })
	c, err := nats.Connect(s.ClientURL())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(c.Close)
	sum := sha256.Sum256(key)
	subject := fmt.Sprintf("carillon.%x.a.b", sum[:8])
	f.Add([]byte("typing"))
	f.Add(make([]byte, 41))
	f.Fuzz(func(t *testing.T, message []byte) {
		before := r.Counts().Refused
		within(t, "it is refused", func() bool { // repeated until the subscription is active
			if err := c.Publish(subject, message); err != nil {
				t.Fatal(err)
			}
			return r.Counts().Refused > before
		})
	})
}

// authority returns the file of a new authority, and a certificate of it for 127.0.0.1.
func authority(t *testing.T) (file string, c tls.Certificate) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "NATS"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}
