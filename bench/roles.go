package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/argon2"

	"carillon/internal/whatsapp/graphtest"
)

// roles are what this program does in the processes beside it.
func roles() map[string]func(args []string) error {
	return map[string]func([]string) error{"handler": handlerRole, "client": clientRole, "provider": providerRole, "hash": hashRole, "sink": sinkRole}
}

// handlerRole is yardstick H: it decodes the body into a map and answers 200, and no more.
func handlerRole([]string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	answer := []byte(`{"success":true}`)
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})}
	go func() { _ = server.Serve(l) }()
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, server.Close())
}

// clientRole is yardstick C: workers that post the body of a message and read the answer. Arguments: address, messages,
// workers. It says how many seconds it took.
func clientRole(args []string) error {
	count, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	workers, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
	var next atomic.Int64
	errs := make([]error, workers)
	run := os.Getpid() // a name of its own, as each notification has
	begin := time.Now()
	var done sync.WaitGroup
	for i := range workers {
		done.Go(func() {
			for errs[i] == nil {
				n := next.Add(1)
				if n > count {
					return
				}
				errs[i] = post(client, args[0], run, n)
			}
		})
	}
	done.Wait()
	fmt.Println(time.Since(begin).Seconds())
	return errors.Join(errs...)
}

// post sends what the channel's adapter sends for the bench's template.
func post(client *http.Client, url string, run int, n int64) error {
	body := fmt.Appendf(make([]byte, 0, 512), `{"messaging_product":"whatsapp","recipient_type":"individual","to":"34600111222",`+
		`"type":"template","biz_opaque_callback_data":"01900000-0000-7000-8000-%012d.%d.1","template":{"name":"order_update",`+
		`"language":{"code":"es_ES"},"components":[{"type":"body","parameters":[{"type":"text","text":"Ana"},{"type":"text",`+
		`"text":"A-1042"},{"type":"text","text":"lunes"}]}]}}`, run, n)
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
		err = fmt.Errorf("the provider answered %d", resp.StatusCode)
	}
	return errors.Join(err, resp.Body.Close())
}

// providerRole plays the channel. A line on its standard input is "count", which it answers with how many posts came;
// "forget", after which nothing has come yet; or an instant in Unix µs: it says how many posts came since, then each
// one's message and instant. To list them is work beside what is measured; to count them is none.
func providerRole([]string) error {
	s, err := graphtest.New(graphtest.Options{Loose: true})
	if err != nil {
		return err
	}
	fmt.Println(s.URL())
	out := bufio.NewWriter(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch lines.Text() {
		case "count":
			fmt.Println(s.Total())
			continue
		case "forget":
			s.Forget()
			runtime.GC() // not during what comes next
			fmt.Println("forgot")
			continue
		}
		since, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			return err
		}
		if err := tellPosts(out, s, since); err != nil {
			return err
		}
	}
	return errors.Join(lines.Err(), s.Close())
}

func tellPosts(out *bufio.Writer, s *graphtest.Server, since int64) error {
	var refs []string
	s.Each(func(ref string, _, _ int) { refs = append(refs, ref) })
	posts := make([]graphtest.Post, 0, len(refs))
	for _, ref := range refs {
		posts = append(posts, s.Posts(ref)...)
	}
	posts = slices.DeleteFunc(posts, func(p graphtest.Post) bool { return p.At.UnixMicro() < since })
	if _, err := fmt.Fprintln(out, len(posts)); err != nil {
		return err
	}
	for _, p := range posts {
		if _, err := fmt.Fprintln(out, p.Ref, p.At.UnixMicro()); err != nil {
			return err
		}
	}
	return out.Flush()
}

// hashRole is yardstick K: the password hash with the program's parameters (config, password-memory and
// password-passes) on every core. Argument: seconds. It says the hashes a second.
func hashRole(args []string) error {
	seconds, err := strconv.ParseFloat(args[0], 64)
	if err != nil {
		return err
	}
	var count atomic.Int64
	begin := time.Now()
	var done sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		done.Go(func() {
			for time.Since(begin).Seconds() < seconds {
				argon2.IDKey([]byte("correct-horse-battery"), []byte("0123456789abcdef"), 2, 19*1024, 1, 32)
				count.Add(1)
			}
		})
	}
	done.Wait()
	fmt.Println(float64(count.Load()) / time.Since(begin).Seconds())
	return nil
}
