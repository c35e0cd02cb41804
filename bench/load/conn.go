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

// Request returns the bytes of an HTTP request.
func Request(method, path, body string) []byte { return RequestAs("", method, path, body) }

// RequestAs returns the bytes of an HTTP request with an access token, unless it is empty.
func RequestAs(token, method, path, body string) []byte {
	var b strings.Builder
	b.WriteString(method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n")
	if token != "" {
		b.WriteString("Authorization: Bearer " + token + "\r\n")
	}
	if body != "" {
		b.WriteString("Content-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n")
	}
	b.WriteString("\r\n" + body)
	return []byte(b.String())
}

// Response is the part of an HTTP response that a Conn parses.
type Response struct {
	Status     int
	RetryAfter bool   // has a Retry-After header
	Close      bool   // the server closes the connection
	Body       []byte // valid until the connection's next request
}

// Conn is one keep-alive connection, for one request at a time.
type Conn struct {
	c   net.Conn
	buf []byte
}

// requestTimeout is the timeout for a response.
const requestTimeout = 60 * time.Second

// Dial connects to host:port.
func Dial(ctx context.Context, addr string) (*Conn, error) {
	d := net.Dialer{Timeout: 5 * time.Second}
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Conn{c: c, buf: make([]byte, 0, 4<<10)}, nil
}

// Close closes the connection.
func (c *Conn) Close() error { return c.c.Close() }

// Do sends one request and reads its response, which must have a Content-Length.
func (c *Conn) Do(req []byte) (Response, error) {
	if err := c.c.SetDeadline(time.Now().Add(requestTimeout)); err != nil {
		return Response{}, err
	}
	if _, err := c.c.Write(req); err != nil {
		return Response{}, err
	}
	c.buf = c.buf[:0]
	var r Response
	head, total := 0, 0
	for total == 0 || len(c.buf) < total {
		if len(c.buf) == cap(c.buf) {
			c.buf = slices.Grow(c.buf, len(c.buf))
		}
		n, err := c.c.Read(c.buf[len(c.buf):cap(c.buf)])
		if err != nil {
			return Response{}, err
		}
		c.buf = c.buf[:len(c.buf)+n]
		if total > 0 {
			continue
		}
		end := bytes.Index(c.buf, []byte("\r\n\r\n"))
		if end < 0 {
			continue
		}
		head = end + 4
		length := 0
		if r, length, err = parseHead(c.buf[:head]); err != nil {
			return Response{}, err
		}
		total = head + length
	}
	r.Body = c.buf[head:total]
	return r, nil
}

// parseHead parses the status line and the relevant headers. It expects the capitalization of net/http.
func parseHead(head []byte) (r Response, length int, err error) {
	if len(head) < 12 {
		return r, 0, errors.New("short response")
	}
	if r.Status, err = strconv.Atoi(string(head[9:12])); err != nil {
		return r, 0, err
	}
	_, r.RetryAfter = header(head, "\r\nRetry-After: ")
	if text, found := header(head, "\r\nConnection: "); found {
		r.Close = text == "close"
	}
	text, found := header(head, "\r\nContent-Length: ")
	if !found {
		if r.Status == 204 || r.Status == 304 {
			return r, 0, nil
		}
		return r, 0, errors.New("a response without Content-Length")
	}
	length, err = strconv.Atoi(text)
	return r, length, err
}

func header(head []byte, name string) (string, bool) {
	_, rest, found := bytes.Cut(head, []byte(name))
	if !found {
		return "", false
	}
	value, _, _ := bytes.Cut(rest, []byte{'\r'})
	return string(value), true
}
