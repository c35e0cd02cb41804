package deploy_test

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon/e2e/instance"
)

// haproxyFile writes a copy of haproxy.cfg for these nodes, and returns a client of the public address.
func haproxyFile(t *testing.T, public string, nodes ...*node) (file string, client *http.Client) {
	t.Helper()
	dir := t.TempDir()
	errors, err := filepath.Abs("haproxy/errors")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(nil) // for its certificate
	t.Cleanup(server.Close)
	pair := server.TLS.Certificates[0]
	secret, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)
	certificate := filepath.Join(dir, "carillon.pem")
	if err := os.WriteFile(certificate, text, 0o600); err != nil {
		t.Fatal(err)
	}
	replace := []string{
		"log /dev/log local0 info", "log stdout format raw local0 info", "    user haproxy\n    group haproxy\n", "",
		"maxconn 20000", "maxconn 2000", "/run/haproxy/admin.sock", filepath.Join(dir, "admin.sock"), "/etc/haproxy/errors", errors,
		"/etc/haproxy/certs/carillon.pem", certificate, "bind :80\n", "bind " + instance.FreeAddress(t) + "\n",
		"bind :443", "bind " + public,
		"bind 127.0.0.1:5432", "bind " + instance.FreeAddress(t),
	}
	for i, n := range nodes {
		old := "server node" + strconv.Itoa(i+1)
		replace = append(replace, old+" 10.0.0.2"+strconv.Itoa(i+1)+":8080", old+" "+n.addr)
	}
	return example(t, dir, "haproxy/haproxy.cfg", replace...), server.Client()
}

func TestHAProxyTakesTheFile(t *testing.T) {
	t.Parallel()
	haproxy := tool(t, "haproxy", "haproxy")
	file, _ := haproxyFile(t, instance.FreeAddress(t))
	if out, err := exec.CommandContext(t.Context(), haproxy, "-c", "-f", file).CombinedOutput(); err != nil ||
		strings.Contains(string(out), "WARNING") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestErrorsOfHAProxyAreOfTheInterface checks the length and the form of the error files.
func TestErrorsOfHAProxyAreOfTheInterface(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("haproxy/errors/*.http")
	if err != nil || len(files) != 6 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, body, _ := strings.Cut(string(text), "\r\n\r\n")
		status := strings.TrimSuffix(filepath.Base(file), ".http")
		length := "\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
		if !strings.HasPrefix(head, "HTTP/1.1 "+status+" ") || !strings.Contains(head, length) ||
			!strings.Contains(head, "\r\nContent-Type: application/json\r\n") {
			t.Errorf("%s: %s", file, head)
		}
		var of struct {
			Error, Message string
			RetryAfter     int `json:"retry_after"`
		}
		if err := json.Unmarshal([]byte(body), &of); err != nil || of.Error == "" || of.Message == "" ||
			strings.Contains(head, "\r\nRetry-After: ") != (of.RetryAfter > 0) ||
			(of.Error == "service_unavailable") != (of.RetryAfter > 0) {
			t.Errorf("%s: %v %+v", file, err, of)
		}
	}
}

// TestHAProxyLosesNoRequest stops one of two nodes under load: no request fails. Then it kills the other one.
func TestHAProxyLosesNoRequest(t *testing.T) {
	t.Parallel()
	haproxy := tool(t, "haproxy", "haproxy")
	a, b := serve(t, "--shutdown-delay=6s"), serve(t, "--shutdown-delay=6s")
	public := instance.FreeAddress(t)
	file, client := haproxyFile(t, public, a, b)
	client.Timeout = hung
	a.ready()
	b.ready()
	proxy := start(t, exec.CommandContext(t.Context(), haproxy, "-db", "-f", file))
	base := "https://" + public
	proxy.await("pass a request on", func() bool {
		resp, _, err := notify(t, client, base)
		return err == nil && resp.StatusCode == http.StatusOK
	})

	var sent, failed atomic.Int64
	var end atomic.Bool
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			for !end.Load() && failed.Load() < 5 {
				resp, body, err := notify(t, client, base)
				if err != nil {
					failed.Add(1)
					t.Error("no response")
				} else if resp.StatusCode != http.StatusOK {
					failed.Add(1)
					t.Errorf("%d %s", resp.StatusCode, body)
				}
				sent.Add(1)
			}
		})
	}
	more := func() {
		want := sent.Load() + 100
		proxy.await("pass a hundred requests on", func() bool { return sent.Load() > want || failed.Load() > 0 })
	}
	more()
	if code := a.stop(); code != 0 {
		t.Errorf("after SIGTERM the node ended with %d", code)
	}
	more()
	end.Store(true)
	done.Wait()
	if n := sent.Load(); failed.Load() > 0 {
		t.Errorf("%d of %d requests failed while a node was stopped", failed.Load(), n)
	}

	_ = b.cmd.Process.Kill()
	<-b.ended
	proxy.await("report that no node responds", func() bool {
		resp, body, err := notify(t, client, base)
		return err == nil && resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") == "2" &&
			resp.Header.Get("Content-Type") == "application/json" &&
			strings.Contains(body, `"error":"service_unavailable","message":"No node responds","retry_after":2`)
	})
	if text := proxy.text(); strings.Contains(text, installed) || !strings.Contains(text, " POST /functions/v1/notify 503 ") {
		t.Errorf("HAProxy's log has an access key, or not the path: %s", text[max(0, len(text)-500):])
	}
}

// TestHAProxyLeadsToThePrimary has two databases of which one says that it is the primary.
func TestHAProxyLeadsToThePrimary(t *testing.T) {
	t.Parallel()
	haproxy := tool(t, "haproxy", "haproxy")
	dir := t.TempDir()
	var primary atomic.Int32
	replace := []string{}
	for i := range int32(3) {
		patroni := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/primary" || primary.Load() != i {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}))
		t.Cleanup(patroni.Close)
		database := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(strconv.Itoa(int(i))))
		}))
		t.Cleanup(database.Close)
		n := strconv.Itoa(int(i + 1))
		_, port, _ := strings.Cut(strings.TrimPrefix(patroni.URL, "http://"), ":")
		replace = append(replace, "server db"+n+" 10.0.0.1"+n+":5432",
			"server db"+n+" "+strings.TrimPrefix(database.URL, "http://")+" port "+port)
	}
	file, _ := haproxyFile(t, instance.FreeAddress(t))
	address := instance.FreeAddress(t)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, listen, _ := strings.Cut(string(text), "listen database\n")
	old, _, _ := strings.Cut(strings.TrimSpace(listen), "\n")
	text = []byte(strings.Replace(string(text), old, "bind "+address, 1))
	for i := 0; i < len(replace); i += 2 {
		text = []byte(strings.Replace(string(text), replace[i], replace[i+1], 1))
	}
	name := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := start(t, exec.CommandContext(t.Context(), haproxy, "-db", "-f", name))
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, now := range []int32{0, 2, 1} {
		primary.Store(now)
		row := 0 // of connections to the primary alone; before its checks, HAProxy leads to all in turn
		proxy.await("lead to the primary", func() bool {
			resp, err := client.Get("http://" + address) //nolint:noctx // the client has a timeout
			if err != nil {
				row = 0
				return false
			}
			defer resp.Body.Close()
			b := make([]byte, 1)
			_, _ = resp.Body.Read(b)
			if row++; string(b) != strconv.Itoa(int(now)) {
				row = 0
			}
			return row == 10
		})
	}
}
