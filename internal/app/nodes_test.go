package app_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"carillon"
	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/store/storetest"
)

// with returns a PostgreSQL address with another parameter.
func with(t *testing.T, address, name, value string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	v := u.Query()
	v.Set(name, value)
	u.RawQuery = v.Encode()
	return u.String()
}

func TestNodeWhoseClockIsAheadOfTheOthersIsNotReady(t *testing.T) {
	t.Parallel()
	address := storetest.PatientPostgres(t)
	for _, statement := range []string{ // the database's clock is an hour behind this node's
		"CREATE SCHEMA skewed",
		"CREATE FUNCTION skewed.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() - " +
			"interval '1 hour' $$",
	} {
		storetest.Exec(t, address, statement)
	}
	node := func(address string) *app.App {
		a, _ := demo(t, func(c *config.Config) {
			c.DatabaseURL, c.MasterKeyFile = config.Secret(address), storetest.MasterKey(t)
		})
		return a
	}
	ahead := node(with(t, address, "search_path", "public,skewed,pg_catalog"))
	app.Within(t, "it warns of its clock, alone", func() bool {
		checks, err := ahead.Ready(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(fmt.Sprint(checks), "warning: The clock of this node is ahead of the database's by 1h")
	})
	right := node(address)
	app.Within(t, "it is not ready beside another", func() bool {
		var refused *carillon.Error
		_, err := ahead.Ready(t.Context())
		return errors.As(err, &refused) && strings.Contains(fmt.Sprint(refused.Details), "is ahead of the other nodes'")
	})
	if _, err := right.Ready(t.Context()); err != nil {
		t.Error("the other node:", err)
	}
}

// twoNodes starts two nodes of the demo on one database.
func twoNodes(t *testing.T, change func(c *config.Config)) (one, other talk) {
	t.Helper()
	return twoNodesLogging(t, io.Discard, change)
}

func twoNodesLogging(t *testing.T, log io.Writer, change func(c *config.Config)) (one, other talk) {
	t.Helper()
	database, key := storetest.PatientPostgres(t), storetest.MasterKey(t)
	node := func(first bool) talk {
		cfg := config.Config{
			Addr: "127.0.0.1:0", Data: t.TempDir(), Demo: first, PasswordMemory: 8, PasswordPasses: 1, ShutdownTimeout: 2 * time.Minute,
			DatabaseURL: config.Secret(database), MasterKeyFile: key,
		}
		if change != nil {
			change(&cfg)
		}
		a, err := app.New(cfg, app.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := a.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		})
		return talk{t, a}
	}
	return node(true), node(false)
}

func TestTypingAndPresenceReachScreensOfAnotherNode(t *testing.T) {
	t.Parallel()
	one, other := twoNodes(t, nil)
	crosses(t, one, other)
}

// nats starts a NATS server and returns its URL.
func nats(t *testing.T) string {
	t.Helper()
	return natsServer(t, &server.Options{}).ClientURL()
}

func natsServer(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	o.Host, o.Port, o.NoLog, o.NoSigs = "127.0.0.1", cmp.Or(o.Port, server.RANDOM_PORT), true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(app.Hung) {
		t.Fatal("it hangs: NATS is not ready")
	}
	return s
}

func TestTypingAndPresenceReachScreensOfAnotherNodeOverNATS(t *testing.T) {
	t.Parallel()
	address := nats(t)
	one, other := twoNodes(t, func(c *config.Config) { c.NATSURL = config.Secret(address) })
	for _, k := range []talk{one, other} {
		app.Within(t, "NATS is used", func() bool { return strings.Contains(k.a.Exposed(t), "\ncarillon_nats_active 1\n") })
	}
	crosses(t, one, other)
	for _, k := range []talk{one, other} {
		for _, line := range []string{`live_events_total{result="notified"} 0`, `live_events_total{result="refused"} 0`} {
			if page := k.a.Exposed(t); !strings.Contains(page, "\ncarillon_"+line+"\n") {
				t.Errorf("no %s in\n%s", line, page)
			}
		}
	}
}

func TestTypingCrossesWhileNATSIsDownAndItsPasswordIsNotShown(t *testing.T) {
	t.Parallel()
	s := natsServer(t, &server.Options{Username: "node", Password: "hunter2"})
	address := strings.Replace(s.ClientURL(), "nats://", "nats://node:hunter2@", 1)
	var log quiet
	one, other := twoNodesLogging(t, &log, func(c *config.Config) { c.NATSURL = config.Secret(address) })
	owner := one.signIn("owner@demo.test")
	visitor, id := one.visit(1)
	page, _ := one.follow("/functions/v1/chat/stream", visitor, "0")
	crosses := func(way string) {
		t.Helper()
		sent := func() int64 { return counted(t, other.a, `carillon_live_events_total{result="`+way+`"}`) }
		before := sent()
		repeat(t, page, "typing, "+way, func() {
			other.ask("POST", "/panel/v1/conversations/"+id+"/typing", owner, "", 204)
		}, func(e sse) bool { return e.kind == "typing" && sent() > before })
	}
	used := func(n int64) {
		t.Helper()
		for _, k := range []talk{one, other} {
			app.Within(t, "NATS is used or not", func() bool { return counted(t, k.a, "carillon_nats_active") == n })
		}
	}
	used(1)
	crosses("relayed")
	port := s.Addr().(*net.TCPAddr).Port
	s.Shutdown()
	s.WaitForShutdown()
	used(0)
	crosses("notified")
	natsServer(t, &server.Options{Username: "node", Password: "hunter2", Port: port})
	used(1)
	crosses("relayed")
	natsLines := 0
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "NATS") {
			natsLines++
		}
	}
	if text := log.String(); strings.Contains(text, "hunter2") || natsLines < 8 {
		t.Errorf("the log has %d lines about NATS:\n%s", natsLines, text)
	}
}

// counted returns the value of a metric.
func counted(t *testing.T, a *app.App, name string) int64 {
	t.Helper()
	_, after, found := strings.Cut(a.Exposed(t), "\n"+name+" ")
	text, _, _ := strings.Cut(after, "\n")
	n, err := strconv.ParseInt(text, 10, 64)
	if !found || err != nil {
		t.Fatalf("no %s: %v", name, err)
	}
	return n
}

// repeat does something again until a matching event comes: what is not stored may be lost until all nodes listen.
func repeat(t *testing.T, events <-chan sse, what string, do func(), meant func(e sse) bool) {
	t.Helper()
	again, hung := time.NewTicker(50*time.Millisecond), time.After(app.Hung)
	defer again.Stop()
	do()
	for {
		select {
		case e, open := <-events:
			if !open {
				t.Fatalf("the stream ended before %s", what)
			}
			if meant(e) {
				return
			}
		case <-again.C:
			do()
		case <-hung:
			t.Fatalf("it hangs: nothing of %s", what)
		}
	}
}

// crosses checks that events which are not stored reach a visitor on one node and teammates on the other.
func crosses(t *testing.T, one, other talk) {
	t.Helper()
	ana, owner := one.signIn("agent@demo.test"), one.signIn("owner@demo.test")
	visitor, id := one.visit(1)
	page, _ := one.follow("/functions/v1/chat/stream", visitor, "0")
	inbox, _ := one.follow("/panel/v1/inbox/events", owner, "")
	repeat(t, page, "other nodes to be heard", func() {
		other.ask("POST", "/panel/v1/conversations/"+id+"/typing", owner, "", 204)
	}, func(e sse) bool { return e.kind == "typing" })
	far, leave := other.follow("/panel/v1/inbox/events", ana, "")
	await(t, inbox, "a teammate on the other node", func(e sse) bool {
		return e.kind == "presence" && e.data["name"] == "Demo Agent" && e.data["present"] == true
	})
	repeat(t, far, "the visitor who types", func() {
		one.ask("POST", "/functions/v1/chat/typing", visitor, "", 204)
	}, func(e sse) bool {
		return e.kind == "typing" && e.data["author"] == "visitor" && e.data["conversation_id"] == id
	})
	other.ask("POST", "/panel/v1/conversations/"+id+"/viewing", ana, "", 204)
	await(t, inbox, "a look from the other node", func(e sse) bool { return e.kind == "viewing" && e.data["name"] == "Demo Agent" })
	other.ask("POST", "/panel/v1/conversations/"+id+"/typing", ana, "", 204)
	typing := await(t, page, "the teammate who types", func(e sse) bool { return e.kind == "typing" && e.data["name"] == "Demo Agent" })
	if typing.data["account_id"] != nil || typing.id != "" {
		t.Errorf("the visitor got %v", typing)
	}

	// The agent replies on the other node. The built-in agent is so fast that the page may read the reply before its pieces
	// come; then they are not shown.
	pieces := ""
	for i := 0; pieces == "" && i < 50; i++ {
		turn := fmt.Sprintf(`{"client_id":"v%d","text":"What are your opening hours?"}`, i)
		other.ask("POST", "/functions/v1/chat/turns", visitor, turn, 200)
		reply := await(t, page, "the agent's reply", func(e sse) bool {
			if e.kind == "delta" {
				pieces += e.data["text"].(string)
			}
			return e.kind == "turn" && e.data["author"] == "agent"
		})
		if text := reply.data["text"].(string); pieces != "" && !strings.HasPrefix(text, strings.TrimSpace(pieces)) {
			t.Errorf("the reply %q came after the pieces %q", text, pieces)
		}
	}
	if pieces == "" {
		t.Error("no reply came after its pieces")
	}
	leave()
	await(t, inbox, "the teammate who left the other node", func(e sse) bool {
		return e.kind == "presence" && e.data["name"] == "Demo Agent" && e.data["present"] == false
	})
}

func TestANodeForEventsDeliversThemAndStartsNothingElse(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	one, other := twoNodes(t, func(c *config.Config) {
		c.EventsOnly, c.MediaAllowPrivate = !c.Demo, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	owner := one.signIn("owner@demo.test")
	made := one.ask("POST", "/panel/v1/webhooks", owner, `{"url":"`+server.URL+`/hook","events":["*"]}`, http.StatusCreated)
	if made["id"] == nil {
		t.Fatal(made)
	}
	delivered := func(k talk) int64 {
		return counted(t, k.a, `carillon_webhook_attempts_total{outcome="succeeded"}`)
	}
	visits := 0
	visit := func() { visits++; one.visit(visits) }
	for delivered(other) == 0 { // until both nodes know it
		sum := delivered(one) + delivered(other)
		visit()
		app.Within(t, "the event is delivered", func() bool { return delivered(one)+delivered(other) > sum })
	}
	before, others := delivered(one), delivered(other)
	visit()
	app.Within(t, "the node for events delivers more", func() bool { return delivered(other) > others })
	if n := delivered(one); n != before {
		t.Errorf("the other node delivered %d events", n-before)
	}
	if n := counted(t, one.a, "carillon_shards_owned"); n != carillon.Shards {
		t.Errorf("the other node owns %d shards", n)
	}
	if err := other.a.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	visit()
	app.Within(t, "without it, the other node delivers", func() bool { return delivered(one) > before })
}
