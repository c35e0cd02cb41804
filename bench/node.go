package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"carillon/internal/config"
	"carillon/internal/load"
)

// nodeOptions say how the program under test runs. The zero value is SQLite in a new folder, with nothing set up.
type nodeOptions struct {
	database string // PostgreSQL; empty: SQLite
	dir      string // data folder; empty: a new one
	provider string // base address of the channel; empty: nothing is set up
	ops      bool   // serves its operators' address
	addr     string // empty: a free one
	extra    string // further fields of every sender in the set-up
	senders  int    // further ones of the company Much: line0, line1 …
}

// node is the program under test, as an operator runs it: its own process, the default log in a file.
type node struct {
	*child
	addr     string
	dir      string
	ops      string
	database string // PostgreSQL: the database's name
	options  nodeOptions
}

// sends are the companies of the set-up, by the access key of each: one that sends much, one that sends single messages,
// one that is paced.
var sends = []struct {
	name, key string
	perSecond int
}{{"Much", "ck_bench_much", 0}, {"Single", "ck_bench_single", 0}, {"Paced", "ck_bench_paced", 80}}

// setUp writes the set-up. Limits and quotas are on, and never reached.
func setUp(o nodeOptions) string {
	var b strings.Builder
	b.WriteString("companies:\n")
	for i, s := range sends {
		further := 0
		if i == 0 {
			further = o.senders
		}
		fmt.Fprintf(&b, `  - id: 5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e0%d
    name: %s
    limits: {sends_per_minute: 100000000, template_lists_per_minute: 100000000, daily_recipients: 1000000000}
    keys: [{key: %s}]
    senders:
`, i+1, s.name, s.key)
		sender := func(id, number string, standard bool) {
			fmt.Fprintf(&b, "      - {id: %s, number: %q, channel: messaging, provider: whatsapp, default: %t, media_check: syntax, per_second: %d, per_recipient_interval: 0s, %ssettings: {%s}}\n",
				id, number, standard, s.perSecond, o.extra, strings.ReplaceAll(settings, "BASE", o.provider))
		}
		sender("main", fmt.Sprintf("15555550%d00", i+1), true)
		for k := range further {
			sender("line"+strconv.Itoa(k), fmt.Sprintf("1555556%04d", k), false)
		}
		b.WriteString("    templates:\n      - {sender: main, " + template + "}\n")
		for k := range further {
			fmt.Fprintf(&b, "      - {sender: line%d, %s}\n", k, template)
		}
		if i == 0 {
			b.WriteString("    users: [{email: owner@bench.test, password: correct-horse-battery, role: owner}]\n")
		}
	}
	return b.String()
}

const (
	template = `name: order_update, language: es_ES, category: UTILITY, body: "Hola {{1}}, tu pedido {{2}} llega el {{3}}.", examples: {body: [Ana, A-1, lunes]}`
	settings = `base_url: "BASE", version: v23.0, phone_number_id: "1000001", waba_id: "2000001", access_token: provider-token, ` +
		`app_secret: provider-app-secret, verify_token: provider-verify-token`
)

// serve starts the program and waits until it says that it is ready.
func (b *bench) serve(ctx context.Context, o nodeOptions) (*node, error) {
	b.nth++
	if o.dir == "" {
		o.dir = filepath.Join(b.dir, "data"+strconv.Itoa(b.nth))
	}
	n := &node{dir: o.dir, options: o}
	ready := filepath.Join(b.dir, "ready"+strconv.Itoa(b.nth)+".json")
	env := append(os.Environ(), "CARILLON_ADDR="+cmp.Or(o.addr, "127.0.0.1:0"), "CARILLON_READY_FILE="+ready)
	if o.provider != "" {
		name := filepath.Join(b.dir, "set-up"+strconv.Itoa(b.nth)+".yaml")
		if err := os.WriteFile(name, []byte(setUp(o)), 0o600); err != nil {
			return nil, err
		}
		env = append(env, "CARILLON_PROVISION="+name)
	}
	if b.profile != "" || o.ops {
		var err error
		if n.ops, err = freeAddress(); err != nil {
			return nil, err
		}
		env = append(env, "CARILLON_OPS_ADDR="+n.ops)
	}
	if err := b.launch(n, o, env); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(time.Minute); ; {
		if r, err := config.ReadReady(ready); err == nil {
			n.addr = strings.TrimPrefix(r.BaseURL, "http://")
			return n, nil
		}
		select {
		case <-n.done:
			return nil, fmt.Errorf("the program ended: %s", n.lastLog(b))
		case <-time.After(time.Millisecond):
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			n.kill()
			return nil, fmt.Errorf("the program did not become ready: %s", n.lastLog(b))
		}
	}
}

// launch starts the process with its log in a file.
func (b *bench) launch(n *node, o nodeOptions, env []string) error {
	env = append(env, "CARILLON_DATA="+o.dir)
	if o.database != "" {
		key := filepath.Join(b.dir, "master.key")
		if err := os.WriteFile(key, bytes.Repeat([]byte("k"), 32), 0o600); err != nil {
			return err
		}
		env = append(env, "CARILLON_DATABASE_URL="+o.database, "CARILLON_MASTER_KEY_FILE="+key)
	}
	log, err := os.OpenFile(n.logFile(b), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(b.server, "serve")
	cmd.Env, cmd.Stderr = env, log
	n.child, err = b.start(cmd)
	return err
}

func (n *node) logFile(b *bench) string { return filepath.Join(b.dir, filepath.Base(n.dir)+".log") }

func (n *node) lastLog(b *bench) string {
	text, _ := os.ReadFile(n.logFile(b))
	return string(text[max(0, len(text)-500):])
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// profileFor takes a CPU profile of the node beside a measurement, where profiles were asked for. The function given
// back waits for it.
func (b *bench) profileFor(n *node, name string, d time.Duration) (wait func() error) {
	if b.profile == "" {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() {
		resp, err := http.Get("http://" + n.ops + "/debug/pprof/profile?seconds=" + strconv.Itoa(int(d.Seconds())))
		if err != nil {
			done <- err
			return
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err == nil {
			err = os.WriteFile(filepath.Join(b.profile, name+".pprof"), body, 0o600)
		}
		done <- err
	}()
	return func() error { return <-done }
}

// engine is where a node keeps its data.
type engine struct {
	name     string
	postgres bool
}

func engines() []engine { return []engine{{"SQLite", false}, {"PostgreSQL", true}} }

// on starts a node with an empty database of the engine, set up for a provider.
func (b *bench) on(ctx context.Context, e engine, providerURL string) (*node, error) {
	o, name := nodeOptions{provider: providerURL}, ""
	if e.postgres {
		var err error
		name = "bench" + strconv.Itoa(b.nth+1)
		if o.database, err = b.cluster.database(ctx, name); err != nil {
			return nil, err
		}
	}
	n, err := b.serve(ctx, o)
	if err == nil {
		n.database = name
	}
	return n, err
}

// never is a due time that no run lives to see: accepting is measured without delivering.
var never = time.Date(2099, 1, 1, 9, 0, 0, 0, time.UTC)

// body is a request to send to n recipients; a zero due time is now. Numbers begin after first.
func body(n, first int, due time.Time) string {
	var b strings.Builder
	contact := func(i int) {
		fmt.Fprintf(&b, `{"number":"34%09d","name":"Ana García","email":"ana@example.com","city":"Madrid"}`, first+i)
	}
	if n == 1 {
		b.WriteString(`{"contact":`)
		contact(0)
	} else {
		b.WriteString(`{"contacts":[`)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			contact(i)
		}
		b.WriteByte(']')
	}
	b.WriteString(`,"recipient_id":"main","name_template":"order_update","language_template":"es_ES","notification_type":"transactional",` +
		`"campaign_name":"orders of today"`)
	if !due.IsZero() {
		b.WriteString(`,"datetime_sending":"` + due.UTC().Format("2006-01-02T15:04:05.000") + `","timezone":"UTC"`)
	}
	b.WriteString(`,"components_push":{"body_text_0":"{{name}}","body_text_1":"A-1042","body_text_2":"lunes"}}`)
	return b.String()
}

func notifyPath(key string) string { return "/functions/v1/notify?access_key=" + key }

// sendOne is a request to one recipient that is never due in the run.
func sendOne() []byte { return request("POST", notifyPath("ck_bench_much"), body(1, 600000000, never)) }

// bulk accepts messages in requests of a hundred, as fast as eight connections can.
func (b *bench) bulk(ctx context.Context, n *node, key string, messages int, due time.Time) error {
	var next atomic.Int64
	requests := int64(messages / 100)
	return each(ctx, n.addr, 8, func(_ int, c *load.Conn) error {
		for ctx.Err() == nil {
			i := next.Add(1)
			if i > requests {
				return nil
			}
			if i%1000 == 0 {
				b.say("accepted %d of %d messages", i*100, messages)
			}
			if _, err := ok(c, request("POST", notifyPath(key), body(100, int(i-1)*100, due))); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
}
