package load

import (
	"bytes"
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Request makes the bytes of a request. Headers are whole lines such as "Authorization: Bearer x".
func Request(method, path, body string, headers ...string) []byte {
	var b strings.Builder
	b.WriteString(method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n")
	if body != "" {
		b.WriteString("Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n")
	}
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("\r\n" + body)
	return []byte(b.String())
}

// Answer is what a Conn reads of an answer.
type Answer struct {
	Status     int
	RetryAfter bool   // it has the header Retry-After
	Close      bool   // the connection ends with it
	Body       []byte // holds until the connection's next request
}

// Conn is one keep-alive connection. It serves one request after the other.
type Conn struct {
	c   net.Conn
	buf []byte
}

// patience bounds a request: a server that takes longer has failed.
const patience = 60 * time.Second

// Dial connects to host:port.
func Dial(ctx context.Context, addr string) (*Conn, error) {
	d := net.Dialer{Timeout: 5 * time.Second}
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Conn{c: c, buf: make([]byte, 0, 4<<10)}, nil
}

// Close ends the connection.
func (c *Conn) Close() error { return c.c.Close() }

// Do sends one request and reads its answer, which must tell its length.
func (c *Conn) Do(req []byte) (Answer, error) {
	if err := c.c.SetDeadline(time.Now().Add(patience)); err != nil {
		return Answer{}, err
	}
	if _, err := c.c.Write(req); err != nil {
		return Answer{}, err
	}
	c.buf = c.buf[:0]
	var a Answer
	head, need := 0, 0
	for need == 0 || len(c.buf) < need {
		if len(c.buf) == cap(c.buf) {
			c.buf = slices.Grow(c.buf, len(c.buf))
		}
		n, err := c.c.Read(c.buf[len(c.buf):cap(c.buf)])
		if err != nil {
			return Answer{}, err
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
		length := 0
		if a, length, err = readHead(c.buf[:head]); err != nil {
			return Answer{}, err
		}
		need = head + length
	}
	a.Body = c.buf[head:need]
	return a, nil
}

// readHead reads the line of the status and the headers that matter, each as the answer's end leaves it: "\r\n".
func readHead(head []byte) (a Answer, length int, err error) {
	if len(head) < 12 {
		return a, 0, errors.New("short answer")
	}
	if a.Status, err = strconv.Atoi(string(head[9:12])); err != nil {
		return a, 0, err
	}
	text, found := header(head, "\r\nContent-Length: ")
	if !found {
		if a.Status == 204 || a.Status == 304 {
			return a, 0, nil
		}
		return a, 0, errors.New("an answer without a length")
	}
	length, err = strconv.Atoi(text)
	if a.Status != 200 {
		_, a.RetryAfter = header(head, "\r\nRetry-After: ")
	}
	if text, found := header(head, "\r\nConnection: "); found {
		a.Close = text == "close"
	}
	return a, length, err
}

func header(head []byte, name string) (string, bool) {
	_, rest, found := bytes.Cut(head, []byte(name))
	if !found {
		return "", false
	}
	value, _, _ := bytes.Cut(rest, []byte{'\r'})
	return string(value), true
}
