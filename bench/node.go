package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"carillon/bench/load"
)

// engine is the database engine of a node.
type engine struct {
	name     string
	postgres bool
}

func engines() []engine { return []engine{{"SQLite", false}, {"PostgreSQL", true}} }

// nodeOptions configure the program under test. The zero value is SQLite in a new folder, without provisioning.
type nodeOptions struct {
	database string // PostgreSQL database; empty means SQLite
	dir      string // data folder; empty means a new one
	provider string // base URL of the channel; empty means no provisioning
	tree     *tree  // nil means the working copy
	plain    bool   // for a comparison: nothing but what all versions understand
	files    string // more set-up files, with commas between them
	ops      string // private address, for metrics; empty means none
	env      []string
}

// node is the program under test in a separate process, with the default log in a file.
type node struct {
	*process
	nodeOptions
	addr string
}

// Access keys of the companies in the provisioning file: one that sends in bulk, one that sends single messages, and
// one with pacing.
const (
	bulkKey   = "ck_bench_bulk"
	singleKey = "ck_bench_single"
	pacedKey  = "ck_bench_paced"

	pacedRate = 80 // messages per second, as in provision.yaml
)

// serve starts the program and waits until it is ready.
func (b *bench) serve(ctx context.Context, o nodeOptions) *node {
	b.seq++
	if o.dir == "" {
		o.dir = filepath.Join(b.dir, "data"+strconv.Itoa(b.seq))
	}
	if o.tree == nil {
		o.tree = &b.trees[0]
	}
	n := &node{nodeOptions: o}
	ready := filepath.Join(b.dir, "ready"+strconv.Itoa(b.seq)+".json")
	env := []string{
		"CARILLON_ADDR=127.0.0.1:0", "CARILLON_MEDIA_ALLOW_PRIVATE=127.0.0.1/32", "CARILLON_READY_FILE=" + ready,
		"CARILLON_MAX_CALLS=4000", "CARILLON_CALL_DRAIN=1s",
	}
	if o.provider != "" {
		file := filepath.Join(b.dir, "provision"+strconv.Itoa(b.seq)+".yaml")
		check(os.WriteFile(file, []byte(strings.NewReplacer("PROVIDER", o.provider, "EARS", cmp.Or(b.ears, noProvider), "EXCHANGE",
			cmp.Or(b.exchange, "127.0.0.1:9")).Replace(o.provisioning())), 0o600))
		env = append(env, "CARILLON_PROVISION="+strings.Trim(file+","+o.files, ","))
	}
	check(b.launch(n, append(env, o.env...)))
	for deadline := time.Now().Add(time.Minute); ; {
		if text, err := os.ReadFile(ready); err == nil {
			var file map[string]string
			check(json.Unmarshal(text, &file))
			n.addr = strings.TrimPrefix(file["base_url"], "http://")
			return n
		}
		select {
		case <-n.done:
			panic(failure{fmt.Errorf("the program ended: %s", n.endOfLog(b))})
		case <-time.After(time.Millisecond):
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			n.kill()
			panic(failure{fmt.Errorf("the program did not become ready: %s", n.endOfLog(b))})
		}
	}
}

// launch starts the process with its log in a file.
func (b *bench) launch(n *node, env []string) error {
	env = append(env, "CARILLON_DATA="+n.dir)
	if n.database != "" {
		key := filepath.Join(b.dir, "master.key")
		if err := os.WriteFile(key, bytes.Repeat([]byte("k"), 32), 0o600); err != nil {
			return err
		}
		env = append(env, "CARILLON_DATABASE_URL="+b.postgres.url(n.database), "CARILLON_MASTER_KEY_FILE="+key)
	}
	log, err := os.OpenFile(n.logFile(b), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(n.tree.server, "serve")
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), log
	n.process, err = b.start(cmd)
	return err
}

func (n *node) logFile(b *bench) string { return filepath.Join(b.dir, filepath.Base(n.dir)+".log") }

func (n *node) endOfLog(b *bench) string {
	text, _ := os.ReadFile(n.logFile(b)) // an unreadable log counts as empty
	return string(text[max(0, len(text)-500):])
}

// serveEmpty starts a node on an empty database of the engine, provisioned for a provider.
func (b *bench) serveEmpty(ctx context.Context, e engine, providerURL string) *node {
	return b.serve(ctx, b.emptyOptions(ctx, e, providerURL))
}

func (b *bench) emptyOptions(ctx context.Context, e engine, providerURL string) nodeOptions {
	o := nodeOptions{provider: providerURL}
	if e.postgres {
		b.seq++
		o.database = "bench" + strconv.Itoa(b.seq)
		check(b.postgres.exec(ctx, "CREATE DATABASE "+o.database))
	}
	return o
}

// discard stops a node and removes its data.
func (b *bench) discard(n *node) {
	n.stop()
	err := os.RemoveAll(n.dir)
	if n.database != "" && err == nil {
		err = b.postgres.exec(context.Background(), "DROP DATABASE "+n.database+" WITH (FORCE)")
	}
	if err != nil {
		b.logf("%v", err)
	}
}

// noProvider is a channel URL without a listener, for measurements that deliver nothing.
const noProvider = "http://127.0.0.1:9"

// never is a due time after the end of every run: messages are accepted but not delivered.
func never() time.Time { return time.Date(2099, 1, 1, 9, 0, 0, 0, time.UTC) }

// sendRequest returns a request to n recipients with consecutive numbers from first, whose replies start a flow. A
// zero due time means now.
func sendRequest(key string, n, first int, due time.Time) []byte {
	return sendFrom("main", key, n, first, due)
}

// sendFrom returns such a request for another sender.
func sendFrom(sender, key string, n, first int, due time.Time) []byte {
	contacts := make([]string, n)
	for i := range contacts {
		contacts[i] = fmt.Sprintf(`{"number":"34%09d","name":"Ana García","email":"ana@example.com","city":"Madrid"}`, first+i)
	}
	var b strings.Builder
	if n == 1 {
		b.WriteString(`{"contact":` + contacts[0])
	} else {
		b.WriteString(`{"contacts":[` + strings.Join(contacts, ",") + "]")
	}
	b.WriteString(`,"recipient_id":"` + sender + `","name_template":"order_update","language_template":"es_ES",` +
		`"notification_type":"transactional",` +
		`"campaign_name":"orders of today","name_event":"order-updated"`)
	if !due.IsZero() {
		b.WriteString(`,"datetime_sending":"` + due.UTC().Format("2006-01-02T15:04:05.000") + `","timezone":"UTC"`)
	}
	b.WriteString(`,"components_push":{"body_text_0":"{{name}}","body_text_1":"A-1042","body_text_2":"lunes"}}`)
	return load.Request("POST", "/functions/v1/notify?access_key="+key, b.String())
}

// listRequest returns a request for a list of the bulk company's notifications.
func listRequest(query string) []byte {
	return load.Request("GET", "/functions/v1/notify?"+query+"&access_key="+bulkKey, "")
}

func signInRequest() []byte {
	return load.Request("POST", "/functions/v1/auth?grant_type=password", `{"email":"owner@bench.test","password":"correct-horse-battery"}`)
}

// acceptOne returns a request to one recipient that is never delivered.
func acceptOne() []byte { return sendRequest(bulkKey, 1, 600_000_000, never()) }

// acceptMany accepts messages in requests of a hundred over eight connections, as fast as possible.
func (b *bench) acceptMany(ctx context.Context, n *node, key string, messages int, due time.Time) error {
	l := load.Load{Addr: n.addr, Conns: 8, Count: messages / 100, Request: func(conn, k int) []byte {
		return sendRequest(key, 100, (k*8+conn)*100, due)
	}}
	_, err := l.Run(ctx)
	return err
}

// connections is the number of connections for measuring a maximum. With fewer, requests would wait for their
// connection and not for the program.
const connections = 64

// closedLoop keeps the connections busy for the given time and returns the responses per second.
func closedLoop(ctx context.Context, addr string, req []byte, d time.Duration) (float64, error) {
	l := load.Load{Addr: addr, Conns: connections, For: d, Request: load.Always(req)}
	r, err := l.Run(ctx)
	return r.Rate(), err
}

// openLoop sends at a fixed rate and returns the p99 latency in milliseconds.
func openLoop(ctx context.Context, addr string, request func(conn, k int) []byte, rate float64, d time.Duration) (float64, error) {
	l := load.Load{Addr: addr, Conns: connections, For: d, Rate: rate, Request: request}
	r, err := l.Run(ctx)
	return r.OK.Milliseconds(0.99), err
}
