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

	"golang.org/x/crypto/argon2"

	"carillon/bench/load"
	"carillon/internal/whatsapp/graphtest"
)

// helpers are what this program does in other processes, by the argument that selects it.
func helpers() map[string]func() error {
	return map[string]func() error{"handler": runHandler, "provider": runProvider}
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
func (b *bench) startHandler() (*process, string, error) {
	p, err := b.helper("handler")
	if err != nil {
		return nil, "", err
	}
	addr, err := p.readLine()
	return p, addr, err
}

// fdatasync is yardstick F: the median time in milliseconds to append 4 KiB to a file durably.
func (b *bench) fdatasync(n int) (float64, error) {
	file, err := os.Create(filepath.Join(b.dir, "fdatasync"))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	page := make([]byte, 4096)
	took := make([]time.Duration, n)
	for i := range took {
		if _, err := file.Write(page); err != nil {
			return 0, err
		}
		begin := time.Now()
		if err := syscall.Fdatasync(int(file.Fd())); err != nil {
			return 0, err
		}
		took[i] = time.Since(begin)
	}
	slices.Sort(took)
	return milliseconds(took[n/2]), nil
}

// measureDisk shows yardstick F itself.
func (b *bench) measureDisk(context.Context) error {
	r := b.table.add(row{figure: "Yardstick F: fdatasync of 4 KiB appended", unit: "ms, median of 500"})
	for range b.rounds {
		f, err := b.fdatasync(500)
		if err != nil {
			return err
		}
		r.add(f, 0)
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// hashRate is yardstick K: password hashes a second on every core, with the program's default parameters.
func hashRate(d time.Duration) float64 {
	var count atomic.Int64
	begin := time.Now()
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for time.Since(begin) < d {
				argon2.IDKey([]byte("correct-horse-battery"), []byte("0123456789abcdef"), 2, 19*1024, 1, 32)
				count.Add(1)
			}
		})
	}
	workers.Wait()
	return float64(count.Load()) / time.Since(begin).Seconds()
}

// clientRate is yardstick C: messages a second that a bare client posts to the provider.
func clientRate(p *provider, messages, workers int) (float64, error) {
	if err := p.forget(); err != nil {
		return 0, err
	}
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
	return float64(messages) / time.Since(begin).Seconds(), errors.Join(errs...)
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

// runProvider is the stand-in for the channel. It prints its URL and then follows commands on standard input: "count"
// prints how many messages came, "list" their number and each one's reference and time in µs, "forget" starts over.
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
			if err := listPosts(s); err != nil {
				return err
			}
		}
	}
	return errors.Join(commands.Err(), s.Close())
}

func listPosts(s *graphtest.Server) error {
	var posts []graphtest.Post
	s.Each(func(ref string, _, _ int) { posts = append(posts, graphtest.Post{Ref: ref}) })
	var all []graphtest.Post
	for _, p := range posts {
		all = append(all, s.Posts(p.Ref)...)
	}
	out := bufio.NewWriter(os.Stdout)
	_, _ = fmt.Fprintln(out, len(all)) // Flush reports the error
	for _, p := range all {
		_, _ = fmt.Fprintln(out, p.Ref, p.At.UnixMicro())
	}
	return out.Flush()
}

// provider is the stand-in for the channel.
type provider struct {
	*process
	url string
}

func (b *bench) startProvider() (*provider, error) {
	p, err := b.helper("provider")
	if err != nil {
		return nil, err
	}
	url, err := p.readLine()
	return &provider{p, url}, err
}

// arrival is a message that reached the provider.
type arrival struct {
	ref string // notification.n.attempt
	at  time.Time
}

// arrivals returns the messages since the last forget, by time.
func (p *provider) arrivals() ([]arrival, error) {
	text, err := p.ask("list")
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	all := make([]arrival, n)
	for i := range all {
		if text, err = p.readLine(); err != nil {
			return nil, err
		}
		ref, at, _ := strings.Cut(text, " ")
		us, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return nil, err
		}
		all[i] = arrival{ref, time.UnixMicro(us)}
	}
	slices.SortFunc(all, func(a, b arrival) int { return a.at.Compare(b.at) })
	return all, nil
}

// forget removes all messages: those of the last measurement would slow down the next one.
func (p *provider) forget() error {
	_, err := p.ask("forget")
	return err
}

// count returns how many messages came since the last forget.
func (p *provider) count() (int, error) {
	text, err := p.ask("count")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}

// await waits until n messages have come since the last forget, and returns them.
func (p *provider) await(ctx context.Context, n int, timeout time.Duration) ([]arrival, error) {
	for deadline := time.Now().Add(timeout); ; {
		came, err := p.count()
		if err != nil {
			return nil, err
		}
		if came >= n {
			return p.arrivals()
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("only %d of %d messages came within %s", came, n, timeout)
		}
		if err := load.Pause(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
}
