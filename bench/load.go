package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// The load generator. It writes requests that are made beforehand to bare connections and reads no more of an answer
// than its status and length, so that it takes little of the cores that it shares with what it measures.

// request makes the bytes of a request.
func request(method, path, body string) []byte {
	head := method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	if body != "" {
		head += "Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	return []byte(head + "\r\n" + body)
}

// conn is one keep-alive connection.
type conn struct {
	net.Conn
	buf []byte
}

func dial(addr string) (*conn, error) {
	c, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, buf: make([]byte, 0, 16<<10)}, nil
}

var lengthHeader = []byte("\r\nContent-Length: ")

// roundTrip sends one request and gives the status and the body, which holds until the next.
func (c *conn) roundTrip(req []byte) (status int, body []byte, err error) {
	if _, err := c.Write(req); err != nil {
		return 0, nil, err
	}
	c.buf = c.buf[:0]
	head, need := 0, 0
	for need == 0 || len(c.buf) < need {
		if len(c.buf) == cap(c.buf) {
			c.buf = slices.Grow(c.buf, len(c.buf))
		}
		n, err := c.Read(c.buf[len(c.buf):cap(c.buf)])
		if err != nil {
			return 0, nil, err
		}
		c.buf = c.buf[:len(c.buf)+n]
		if need > 0 {
			continue
		}
		end := bytes.Index(c.buf, []byte("\r\n\r\n"))
		if end < 0 {
			continue
		}
		head = end + 4
		if status, need, err = readHead(c.buf[:head]); err != nil {
			return 0, nil, err
		}
		need += head
	}
	return status, c.buf[head:need], nil
}

func readHead(head []byte) (status, length int, err error) {
	if len(head) < 12 {
		return 0, 0, errors.New("short answer")
	}
	status, err = strconv.Atoi(string(head[9:12]))
	if err != nil {
		return 0, 0, err
	}
	_, rest, found := bytes.Cut(head, lengthHeader)
	if !found {
		return 0, 0, errors.New("an answer without a length")
	}
	length, err = strconv.Atoi(string(rest[:bytes.IndexByte(rest, '\r')]))
	return status, length, err
}

// each runs work on its own connection n times at once and joins what fails.
func each(addr string, n int, work func(i int, c *conn) error) error {
	errs := make([]error, n)
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() {
			c, err := dial(addr)
			if err != nil {
				errs[i] = err
				return
			}
			defer c.Close()
			errs[i] = work(i, c)
		})
	}
	done.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func ok(c *conn, req []byte) ([]byte, error) {
	status, body, err := c.roundTrip(req)
	if err == nil && status != 200 {
		err = fmt.Errorf("answered %d: %s", status, body)
	}
	return body, err
}

// closedLoop keeps n connections busy for a time and gives the answers a second.
func closedLoop(ctx context.Context, addr string, req []byte, n int, d time.Duration) (float64, error) {
	var count atomic.Int64
	begin := time.Now()
	err := each(addr, n, func(_ int, c *conn) error {
		for k := int64(0); ; k++ {
			if time.Since(begin) >= d || ctx.Err() != nil {
				count.Add(k)
				return ctx.Err()
			}
			if _, err := ok(c, req); err != nil {
				return err
			}
		}
	})
	return float64(count.Load()) / time.Since(begin).Seconds(), err
}

// openLoop sends at a rate, whatever the answers take, and gives the latencies, sorted. A request that could not leave
// at its time because its connection still waited counts from that time (coordinated omission); a timer of this process
// that was late does not count.
func openLoop(ctx context.Context, addr string, req []byte, n int, rate float64, d time.Duration) ([]time.Duration, error) {
	took := make([][]time.Duration, n)
	gap := time.Duration(float64(n) / rate * float64(time.Second))
	begin := time.Now()
	err := each(addr, n, func(i int, c *conn) error {
		due := begin.Add(gap * time.Duration(i) / time.Duration(n))
		for ; due.Sub(begin) < d; due = due.Add(gap) {
			from := due
			if wait := time.Until(due); wait > 0 {
				if err := rest(ctx, wait); err != nil {
					return err
				}
				from = time.Now()
			}
			if _, err := ok(c, req); err != nil {
				return err
			}
			took[i] = append(took[i], time.Since(from))
		}
		return nil
	})
	all := slices.Concat(took...)
	slices.Sort(all)
	return all, err
}

// quantile of sorted durations, in milliseconds.
func quantile(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return ms(sorted[min(int(q*float64(len(sorted))), len(sorted)-1)])
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
