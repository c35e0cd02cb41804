package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"carillon/bench/load"
	"carillon/internal/send/whatsapp/graphtest"
)

// helpers are the functions of this program that run in other processes, by the argument that selects them.
func helpers() map[string]func() error {
	return map[string]func() error{
		"handler": runHandler, "provider": runProvider, "exchange": runExchange, "receiver": runReceiver, "endpoint": runEndpoint,
	}
}

// runHandler is yardstick H. It prints its address.
func runHandler() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"success":true}`)
	})}
	go func() { _ = server.Serve(l) }()
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, server.Close())
}

// startHandler starts yardstick H and returns its address.
func (b *bench) startHandler() (*process, string) {
	p := must(b.helper("handler"))
	return p, must(p.readLine())
}

// fdatasync is yardstick F: the median time in milliseconds to append 4 KiB to a file durably.
func (b *bench) fdatasync(n int) float64 {
	file := must(os.Create(filepath.Join(b.dir, "fdatasync")))
	defer file.Close()
	page := make([]byte, 4096)
	took := make([]time.Duration, n)
	for i := range took {
		must(file.Write(page))
		begin := time.Now()
		check(syscall.Fdatasync(int(file.Fd())))
		took[i] = time.Since(begin)
	}
	slices.Sort(took)
	return milliseconds(took[n/2])
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// clientRate is yardstick C: the messages per second that a bare client posts to the provider.
func clientRate(p *provider, messages, workers int) float64 {
	p.forget()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
	defer client.CloseIdleConnections()
	var next atomic.Int64
	errs := make([]error, workers)
	begin := time.Now()
	var running sync.WaitGroup
	for i := range workers {
		running.Go(func() {
			for errs[i] == nil {
				n := next.Add(1)
				if n > int64(messages) {
					return
				}
				errs[i] = post(client, p.url+"/v23.0/1000001/messages", n)
			}
		})
	}
	running.Wait()
	check(errors.Join(errs...))
	return float64(messages) / time.Since(begin).Seconds()
}

// post sends the request that the program sends for the template of the provisioning file.
func post(client *http.Client, url string, n int64) error {
	body := fmt.Appendf(make([]byte, 0, 512), `{"messaging_product":"whatsapp","recipient_type":"individual","to":"34600111222",`+
		`"type":"template","biz_opaque_callback_data":"01900000-0000-7000-8000-%012d.0.1","template":{"name":"order_update",`+
		`"language":{"code":"es_ES"},"components":[{"type":"body","parameters":[{"type":"text","text":"Ana"},{"type":"text",`+
		`"text":"A-1042"},{"type":"text","text":"lunes"}]}]}}`, n)
	req, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer provider-token")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("the provider's status is %d", resp.StatusCode)
	}
	return errors.Join(err, resp.Body.Close())
}

// runProvider is the stand-in for the channel. It prints its URL and then handles commands on standard input: "count"
// prints the number of messages, "list" their number and the reference and time in µs of each, "forget" resets.
// Counting costs nothing during a measurement; listing does.
func runProvider() error {
	s, err := graphtest.New(graphtest.Options{Loose: true})
	if err != nil {
		return err
	}
	fmt.Println(s.URL())
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		switch commands.Text() {
		case "count":
			fmt.Println(s.Total())
		case "forget":
			s.Forget()
			runtime.GC() // before the next measurement
			fmt.Println("ok")
		case "list":
			listPosts(s)
		}
	}
	return errors.Join(commands.Err(), s.Close())
}

func listPosts(s *graphtest.Server) {
	var lines strings.Builder
	n := 0
	for _, posts := range s.All() {
		for _, p := range posts {
			fmt.Fprintln(&lines, p.Ref, p.At.UnixMicro())
			n++
		}
	}
	fmt.Printf("%d\n%s", n, lines.String())
}

// provider is the stand-in for the channel.
type provider struct {
	*process
	url string
}

func (b *bench) startProvider() *provider {
	p := must(b.helper("provider"))
	return &provider{p, must(p.readLine())}
}

// arrival is a message that reached the provider.
type arrival struct {
	ref string // notification.n.attempt
	at  time.Time
}

// arrivals returns the messages since the last forget, by time.
func (p *provider) arrivals() []arrival {
	all := make([]arrival, must(strconv.Atoi(must(p.ask("list")))))
	for i := range all {
		ref, at, _ := strings.Cut(must(p.readLine()), " ")
		all[i] = arrival{ref, time.UnixMicro(must(strconv.ParseInt(at, 10, 64)))}
	}
	slices.SortFunc(all, func(a, b arrival) int { return a.at.Compare(b.at) })
	return all
}

// forget removes all messages, which would slow down the next measurement.
func (p *provider) forget() {
	must(p.ask("forget"))
}

// count returns the number of messages since the last forget.
func (p *provider) count() int {
	return must(strconv.Atoi(must(p.ask("count"))))
}

// await waits until n messages have arrived since the last forget, and returns them.
func (p *provider) await(ctx context.Context, n int, timeout time.Duration) []arrival {
	for deadline := time.Now().Add(timeout); ; {
		came := p.count()
		if came >= n {
			return p.arrivals()
		}
		if time.Now().After(deadline) {
			panic(failure{fmt.Errorf("only %d of %d messages came within %s", came, n, timeout)})
		}
		check(load.Pause(ctx, 100*time.Millisecond))
	}
}
