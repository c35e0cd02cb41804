package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"carillon/e2e/instance"
	"carillon/internal/base/need"
)

const (
	proxied     = "carillon.example.org" // the name in the example files
	proxiedKey  = "ck_proxied_everything"
	proxiedChat = "77777777-7777-4777-8777-777777777722"
	proxiedTalk = "77777777-7777-4777-8777-777777777723"
)

const proxiedProvision = `companies:
  - id: 77777777-7777-4777-8777-777777777721
    name: Front
    keys: [{key: ck_proxied_everything, label: all}]
    users: [{email: ana@front.test, password: front-horse-battery, name: Ana, role: owner}]
    senders: [{id: main, number: "15550100177", channel: messaging, provider: sandbox, default: true}]
    templates: [{sender: main, name: hello, language: en, category: UTILITY, status: approved, body: "Hello."}]
    agents: [{id: 77777777-7777-4777-8777-777777777724, name: Ann, language: en, greeting: "Welcome."}]
    widgets:
      - {id: 77777777-7777-4777-8777-777777777722, kind: chat, name: Chat, agent: Ann, language: en, welcome: "Write to us."}
      - {id: 77777777-7777-4777-8777-777777777723, kind: voice, name: Voice, agent: Ann, language: en, welcome: "Talk to us."}
`

// front is a real proxy, configured by an example file of deploy/proxy, in front of the program. Clients use untrusted
// loopback addresses, like clients elsewhere.
type front struct {
	t     *testing.T
	p     *program
	addr  string // address of the program
	at    string // address of the proxy
	roots *x509.CertPool
	logs  string // folder
}

// TestTheExamplesOfProxiesWork runs nginx and Caddy with the committed files. Only ports and paths are replaced.
func TestTheExamplesOfProxiesWork(t *testing.T) {
	for name, run := range map[string]func(t *testing.T, f *front, dir, cert, key string){"nginx": runNginx, "caddy": runCaddy} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			provision := filepath.Join(dir, "provision.yaml")
			if err := os.WriteFile(provision, []byte(proxiedProvision), 0o600); err != nil {
				t.Fatal(err)
			}
			addr := instance.FreeAddress(t)
			f := &front{t: t, logs: dir, addr: addr, p: startWith(t, "sqlite", provision, inOneMinute(), map[string][]string{
				"base-url": {"https://" + proxied}, "trusted-proxies": {"127.0.0.1/32"}, "file-size": {"2"}, "addr": {addr},
			})}
			cert, key := f.certificate(dir)
			f.at = instance.FreeAddress(t)
			run(t, f, dir, cert, key)
			f.check()
		})
	}
}

func runNginx(t *testing.T, f *front, dir, cert, key string) {
	t.Helper()
	binary := "/usr/sbin/nginx" // not in every PATH
	if _, err := os.Stat(binary); err != nil {
		binary = need.Program(t, "nginx", "nginx")
	}
	site := example(t, "nginx.conf",
		"listen 80;", "listen "+instance.FreeAddress(t)+";", "listen 443 ssl", "listen "+f.at+" ssl", "127.0.0.1:8080", f.addr,
		"/var/log/nginx/", dir+"/",
		"/etc/letsencrypt/live/carillon.example.org/fullchain.pem", cert, "/etc/letsencrypt/live/carillon.example.org/privkey.pem", key)
	var temps strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temps, "%s_temp_path %s/%s;\n", kind, dir, kind)
	}
	conf := fmt.Sprintf("daemon off;\nworker_processes 1;\npid %[1]s/nginx.pid;\nerror_log %[1]s/main.log;\nevents {}\nhttp "+
		"{\naccess_log off;\n%[2]s%[3]s}\n", dir, temps.String(), site)
	if os.Geteuid() == 0 {
		conf = "user root;\n" + conf // the folder of the test belongs to root
	}
	name := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(name, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	f.start(exec.CommandContext(context.WithoutCancel(t.Context()), binary, "-p", dir, "-c", name, "-e", filepath.Join(dir, "main.log")))
}

func runCaddy(t *testing.T, f *front, dir, cert, key string) {
	t.Helper()
	binary := need.Program(t, "caddy", "caddy")
	site := example(t, "Caddyfile",
		"admin localhost:2019", "admin "+instance.FreeAddress(t)+"\n\thttp_port 0\n\tskip_install_trust",
		"\ncarillon.example.org {", "\nhttps://"+proxied+":"+port(f.at)+" {\n\tbind 127.0.0.1",
		"tls admin@example.org", "tls "+cert+" "+key, "127.0.0.1:8080", f.addr, "/var/log/caddy/", dir+"/")
	site = strings.Replace(site, "http_port 0", "http_port "+port(instance.FreeAddress(t)), 1)
	name := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(name, []byte(site), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(context.WithoutCancel(t.Context()), binary, "run", "--config", name, "--adapter", "caddyfile")
	c.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	f.start(c)
}

// example returns a committed file in which each old text is replaced by the new one after it. Each old text must
// occur.
func example(t *testing.T, name string, replace ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "deploy", "proxy", name))
	if err != nil {
		t.Fatal(err)
	}
	s := string(text)
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(s, replace[i]) {
			t.Fatalf("deploy/proxy/%s has no %q", name, replace[i])
		}
		s = strings.ReplaceAll(s, replace[i], replace[i+1])
	}
	return s
}

func port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

func (f *front) certificate(dir string) (cert, key string) {
	f.t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	now := time.Now()
	x := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: proxied}, DNSNames: []string{proxied}, IsCA: true,
		BasicConstraintsValid: true,
		NotBefore:             now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, x, x, private.Public(), private)
	if err != nil {
		f.t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		f.t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	f.roots = x509.NewCertPool()
	f.roots.AppendCertsFromPEM(public)
	for name, text := range map[string][]byte{cert: public, key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
	return cert, key
}

// start starts the proxy and waits until it passes a request on.
func (f *front) start(c *exec.Cmd) {
	f.t.Helper()
	out, err := os.Create(filepath.Join(f.logs, "output.log"))
	if err != nil {
		f.t.Fatal(err)
	}
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		f.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = c.Wait(); close(ended) }()
	f.t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		<-ended
		_ = out.Close()
	})
	client := f.from("127.0.0.2")
	for limit := time.Now().Add(time.Minute); ; {
		r, _ := http.NewRequestWithContext(f.t.Context(), http.MethodGet, "https://"+proxied+"/healthz", nil)
		resp, err := client.Do(r)
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-ended:
			text, _ := os.ReadFile(out.Name())
			f.t.Fatalf("it ended: %s", text)
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(limit) {
			text, _ := os.ReadFile(out.Name())
			f.t.Fatalf("it does not respond: %v\n%s", err, text)
		}
	}
}

// from returns an HTTP/2 client with a source address.
func (f *front) from(address string) *http.Client {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	x := &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: f.roots, MinVersion: tls.VersionTLS12},
		ExpectContinueTimeout: time.Minute,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return d.DialContext(ctx, network, f.at)
		},
	}
	f.t.Cleanup(x.CloseIdleConnections)
	return &http.Client{Transport: x}
}

func (f *front) do(c *http.Client, method, path string, body io.Reader, header ...string) (*http.Response, string) {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), method, "https://"+proxied+path, body)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := c.Do(r)
	if err != nil {
		f.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp, string(text)
}

func (f *front) check() {
	c := f.from("127.0.0.2")
	f.signsInAndSends(c)
	f.passesStreamsAndSockets(c)
	f.takesFiles(c)
	f.knowsClients()
	f.saysThatNoNodeResponds(c)
}

func (f *front) signsInAndSends(c *http.Client) {
	f.t.Helper()
	resp, text := f.do(c, http.MethodPost, "/panel/v1/session",
		strings.NewReader(`{"email":"ana@front.test","password":"front-horse-battery"}`),
		"X-Carillon-Panel", "1", "Origin", "https://"+proxied, "X-Forwarded-For", "203.0.113.9")
	if resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 || len(resp.Cookies()) != 1 || !resp.Cookies()[0].Secure {
		f.t.Fatalf("sign-in: %s %s %s", resp.Proto, resp.Status, text)
	}
	if hsts := resp.Header.Get("Strict-Transport-Security"); hsts != "max-age=31536000" {
		f.t.Errorf("Strict-Transport-Security is %q", hsts)
	}
	cookie := resp.Cookies()[0]
	_, text = f.do(c, http.MethodGet, "/panel/v1/sessions", nil, "Cookie", cookie.Name+"="+cookie.Value)
	if !strings.Contains(text, `"address":"127.0.0.2"`) || strings.Contains(text, "203.0.113.9") {
		f.t.Errorf("the session's address is not the client's: %s", text)
	}
	resp, text = f.do(c, http.MethodPost, "/functions/v1/notify?access_key="+proxiedKey,
		strings.NewReader(`{"contact":{"number":"34600111222"},"recipient_id":"main","name_template":"hello",`+
			`"language_template":"en","notification_type":"utility","campaign_name":"front","components_push":{}}`))
	if resp.StatusCode != http.StatusOK || !strings.Contains(text, `"success":true`) {
		f.t.Errorf("notify: %s %s", resp.Status, text)
	}
	// A doubled slash arrives unchanged: it is no route, and nobody redirects it, which would repeat the key.
	if resp, _ := f.do(c, http.MethodGet, "/functions/v1//notify?access_key="+proxiedKey, nil); resp.StatusCode != http.StatusNotFound {
		f.t.Errorf("a doubled slash: %s", resp.Status)
	}
}

// passesStreamsAndSockets checks that an event arrives on an otherwise quiet stream, and that a socket responds.
func (f *front) passesStreamsAndSockets(c *http.Client) {
	f.t.Helper()
	bearer := f.session(c)
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+proxied+"/functions/v1/chat/stream", nil)
	r.Header.Set("Authorization", bearer)
	resp, err := c.Do(r)
	if err != nil || resp.StatusCode != http.StatusOK {
		f.t.Fatalf("the stream: %v %v", resp, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp, text := f.do(c, http.MethodPost, "/functions/v1/chat/turns", strings.NewReader(`{"client_id":"1","text":"swordfish"}`),
		"Authorization", bearer); resp.StatusCode != http.StatusOK {
		f.t.Fatalf("a turn: %s %s", resp.Status, text)
	}
	lines := bufio.NewScanner(resp.Body)
	collected := false // the first heartbeat would flush an event that the proxy buffers
	for lines.Scan() && !strings.Contains(lines.Text(), "swordfish") {
		collected = collected || lines.Text() == ":"
	}
	if lines.Err() != nil || collected {
		f.t.Errorf("the event arrived with the heartbeat: %v; %v", collected, lines.Err())
	}

	var s struct {
		URL string `json:"signed_url"`
	}
	_, text := f.do(c, http.MethodGet, "/functions/v1/voice-widget/signed-url?access_key="+proxiedKey+"&id_widget="+proxiedTalk, nil)
	if err := json.Unmarshal([]byte(text), &s); err != nil || !strings.HasPrefix(s.URL, "wss://"+proxied+"/v1/convai/") {
		f.t.Fatalf("the signed address: %s", text)
	}
	one := f.from("127.0.0.2")
	one.Transport.(*http.Transport).ForceAttemptHTTP2 = false //nolint:forcetypeassert // created above
	ws, _, err := websocket.Dial(ctx, s.URL, &websocket.DialOptions{Subprotocols: []string{"convai"}, HTTPClient: one})
	if err != nil {
		f.t.Fatalf("the socket: %v", err)
	}
	defer func() { _ = ws.CloseNow() }()
	_ = ws.Write(ctx, websocket.MessageText, []byte(
		`{"type":"conversation_initiation_client_data","conversation_config_override":{"conversation":{"text_only":true}}}`))
	for {
		_, text, err := ws.Read(ctx)
		if err != nil {
			f.t.Fatalf("the socket: %v", err)
		}
		if strings.Contains(string(text), "conversation_initiation_metadata") {
			return
		}
	}
}

// session begins a visitor's chat.
func (f *front) session(c *http.Client) (bearer string) {
	f.t.Helper()
	resp, text := f.do(c, http.MethodPost, "/functions/v1/chat/session",
		strings.NewReader(`{"widget_id":"`+proxiedChat+`","customer_id":"77777777-7777-4777-8777-777777777799"}`))
	var s struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil || s.Token == "" {
		f.t.Fatalf("a session: %s %s", resp.Status, text)
	}
	return "Bearer " + s.Token
}

// takesFiles uploads a file of the maximum size, one byte more, and more than the proxy accepts.
func (f *front) takesFiles(c *http.Client) {
	f.t.Helper()
	bearer := f.session(c)
	const most = 2 << 20
	for size, want := range map[int]int{most: http.StatusOK, most + 1: http.StatusRequestEntityTooLarge} {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		part, _ := w.CreateFormFile("file", "a.txt")
		_, _ = part.Write(bytes.Repeat([]byte("a"), size))
		_ = w.Close()
		resp, text := f.do(c, http.MethodPost, "/functions/v1/chat/files", &body, "Authorization", bearer, "Content-Type",
			w.FormDataContentType())
		if resp.StatusCode != want || want != http.StatusOK &&
			!(strings.Contains(text, "payload_too_large") && strings.Contains(text, "request_id")) {
			f.t.Errorf("a file of %d bytes: %s %s", size, resp.Status, text)
		}
	}
	r, _ := http.NewRequestWithContext(f.t.Context(), http.MethodPost,
		"https://"+proxied+"/panel/v1/send/jobs?access_key="+proxiedKey, io.LimitReader(zeros{}, 41<<20))
	r.ContentLength = 41 << 20
	r.Header.Set("Expect", "100-continue") // nothing is sent if the proxy refuses the length
	resp, err := c.Do(r)
	if err != nil {
		f.t.Fatalf("a body that is too large: %v", err)
	}
	text, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(text), `"payload_too_large"`) ||
		resp.Header.Get("Content-Type") != "application/json" {
		f.t.Errorf("a body that is too large: %s %s", resp.Status, text)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// knowsClients checks that the limit of failed sign-ins counts the client as seen by the proxy, regardless of its own
// headers.
func (f *front) knowsClients() {
	f.t.Helper()
	fail := func(c *http.Client, n int) int {
		resp, _ := f.do(c, http.MethodPost, "/functions/v1/auth?grant_type=password",
			strings.NewReader(fmt.Sprintf(`{"email":"nobody%d@front.test","password":"wrong-horse-battery"}`, n)),
			"X-Forwarded-For", fmt.Sprintf("203.0.113.%d", n), "X-Real-IP", fmt.Sprintf("203.0.113.%d", n), "Forwarded",
			fmt.Sprintf("for=203.0.113.%d", n))
		return resp.StatusCode
	}
	c := f.from("127.0.0.3")
	for n := range 10 {
		if status := fail(c, n); status != http.StatusUnauthorized {
			f.t.Fatalf("the failed sign-in %d: %d", n, status)
		}
	}
	if status := fail(c, 10); status != http.StatusTooManyRequests {
		f.t.Errorf("the eleventh failed sign-in of a client that forges its address: %d", status)
	}
	if status := fail(f.from("127.0.0.4"), 11); status != http.StatusUnauthorized {
		f.t.Errorf("another client is limited too: %d", status)
	}
	// Without the proxy, the client is the connecting address.
	direct := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.3")}}).DialContext,
	}}
	r, _ := http.NewRequestWithContext(f.t.Context(), http.MethodPost, "http://"+f.addr+"/functions/v1/auth?grant_type=password",
		strings.NewReader(`{"email":"nobody@front.test","password":"wrong-horse-battery"}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Forwarded-For", "203.0.113.77")
	resp, err := direct.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusTooManyRequests {
		f.t.Errorf("a forged address without a proxy: %d", resp.StatusCode)
	}
}

// saysThatNoNodeResponds stops the program: the proxy then responds in the API's error format, and none of its logs
// contains the key.
func (f *front) saysThatNoNodeResponds(c *http.Client) {
	f.t.Helper()
	if err := f.p.app.Stop(context.WithoutCancel(f.t.Context())); err != nil {
		f.t.Error(err)
	}
	resp, text := f.do(c, http.MethodGet, "/functions/v1/notify?access_key="+proxiedKey, nil, "X-Access-Key", proxiedKey)
	var e struct {
		Error string `json:"error"`
		After int    `json:"retry_after"`
	}
	if err := json.Unmarshal([]byte(text), &e); err != nil || resp.StatusCode != http.StatusServiceUnavailable ||
		e.Error != "service_unavailable" || e.After == 0 || resp.Header.Get("Retry-After") == "" {
		f.t.Errorf("without a node: %s %v %s", resp.Status, resp.Header, text)
	}
	logs, _ := filepath.Glob(filepath.Join(f.logs, "*.log"))
	var all []byte
	for _, name := range logs {
		text, err := os.ReadFile(name)
		if err != nil {
			f.t.Fatal(err)
		}
		all = append(all, text...)
	}
	if !bytes.Contains(all, []byte("/functions/v1/notify")) || bytes.Contains(all, []byte(proxiedKey)) ||
		bytes.Contains(all, []byte("agent_id=")) {
		f.t.Errorf("the proxy's logs have no requests, or have a secret:\n%s", all)
	}
}
