package mail

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"mime/quotedprintable"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// server is an SMTP server that stores what it receives. It is strict about the order of commands, and requires user
// if it is set.
type server struct {
	t        *testing.T
	l        net.Listener
	user     string // user:password; empty means no authentication
	silent   bool
	mu       sync.Mutex
	received []string
}

func serve(t *testing.T, s *server) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.t, s.l = t, l
	var all sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { defer c.Close(); s.talk(c) })
		}
	})
	return s
}

func (s *server) talk(c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute)) // no test waits that long
	if s.silent {
		_, _ = c.Read(make([]byte, 1)) // until the client gives up
		return
	}
	r := bufio.NewReader(c)
	say := func(format string, a ...any) { _, _ = fmt.Fprintf(c, format+"\r\n", a...) }
	say("220 mail.test ESMTP")
	signedIn, from, to := s.user == "", false, false
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		command, rest, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		switch {
		case command == "EHLO":
			say("250-mail.test\r\n250-8BITMIME\r\n250 AUTH PLAIN")
		case command == "AUTH":
			raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(rest, "PLAIN "))
			if signedIn = string(raw) == "\x00"+strings.Replace(s.user, ":", "\x00", 1); !signedIn {
				say("535 wrong password")
				continue
			}
			say("235 welcome")
		case command == "NOOP", command == "RSET":
			say("250 ok")
		case command == "MAIL" && signedIn:
			from = strings.HasPrefix(rest, "FROM:<carillon@acme.test>")
			say("250 ok")
		case command == "RCPT" && from:
			if to = strings.HasPrefix(rest, "TO:<ana@example.org>"); !to {
				say("550 no such mailbox")
				continue
			}
			say("250 ok")
		case command == "DATA" && to:
			say("354 go on")
			var text strings.Builder
			for {
				line, err := r.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				text.WriteString(line)
			}
			s.mu.Lock()
			s.received = append(s.received, text.String())
			s.mu.Unlock()
			say("250 kept")
		case command == "QUIT":
			say("221 bye")
			return
		default:
			say("503 out of order: %s", command)
		}
	}
}

func (s *server) url(user string) string {
	if user != "" {
		user += "@"
	}
	return "smtp://" + user + s.l.Addr().String() + "?tls=none"
}

func (s *server) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.received...)
}

func mailer(t *testing.T, url string) *Mailer {
	t.Helper()
	m, err := New(Options{URL: url, From: "Carillon <carillon@acme.test>", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var letter = Message{To: "ana@example.org", Subject: "Ánimo", Text: "Hello Ana, see https://acme.test/#a", HTML: "<p>Hello Ana</p>"}

func TestAnEmailIsSent(t *testing.T) {
	for _, user := range []string{"", "carillon:secret"} {
		s := serve(t, &server{user: user})
		if err := mailer(t, s.url(user)).Send(t.Context(), letter); err != nil {
			t.Fatal(err)
		}
		all := s.all()
		if len(all) != 1 {
			t.Fatalf("%d e-mails", len(all))
		}
		var plain strings.Builder
		body := quotedprintable.NewReader(strings.NewReader(all[0]))
		_, _ = bufio.NewReader(body).WriteTo(&plain)
		for _, want := range []string{
			"From: \"Carillon\" <carillon@acme.test>", "To: <ana@example.org>", "Subject: =?UTF-8?q?=C3=81nimo?=", "Message-ID: <",
			"multipart/alternative", letter.HTML,
		} {
			if !strings.Contains(all[0], want) && !strings.Contains(plain.String(), want) {
				t.Errorf("no %q in\n%s", want, all[0])
			}
		}
		if !strings.Contains(strings.ReplaceAll(all[0], "=\r\n", ""), letter.Text) {
			t.Errorf("no text in\n%s", all[0])
		}
	}
}

func TestRefusalsAreTheServersWordsWithoutThePassword(t *testing.T) {
	s := serve(t, &server{user: "carillon:secret"})
	err := mailer(t, s.url("carillon:other-secret")).Send(t.Context(), letter)
	if err == nil || !strings.Contains(err.Error(), "wrong password") || strings.Contains(err.Error(), "other-secret") {
		t.Error(err)
	}
	other := letter
	other.To = "nobody@example.org"
	if err := mailer(t, s.url("carillon:secret")).Send(t.Context(), other); err == nil ||
		!strings.Contains(err.Error(), "no such mailbox") {
		t.Error(err)
	}
	other.To = "ana@example.org\r\nBcc: eve@example.org"
	if err := mailer(t, s.url("carillon:secret")).Send(t.Context(), other); err == nil {
		t.Error("an address of two lines was taken")
	}
	open := serve(t, &server{}) // it would accept the e-mail
	if err := mailer(t, "smtp://"+open.l.Addr().String()).Send(t.Context(), letter); err == nil || len(open.all()) != 0 {
		t.Errorf("without encryption, which the address does not waive: %v", err)
	}
	quiet := serve(t, &server{silent: true})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := mailer(t, quiet.url("")).Send(ctx, letter); err == nil {
		t.Error("a silent server took it")
	}
}

func TestWhatWaitsIsSentBeforeTheEnd(t *testing.T) {
	s := serve(t, &server{})
	m := mailer(t, s.url(""))
	for range waiting {
		if !m.Post(func(context.Context) (*Message, error) { return nil, nil }) {
			t.Fatal("a place is missing")
		}
	}
	if m.Post(func(context.Context) (*Message, error) { return &letter, nil }) {
		t.Error("the queue has no bound")
	}
	<-m.jobs
	m.Post(func(context.Context) (*Message, error) { return &letter, nil })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Run(ctx); err != nil || len(s.all()) != 1 {
		t.Errorf("%d e-mails, %v", len(s.all()), err)
	}
}

func TestBadOptionsAreRefusedWithoutThePassword(t *testing.T) {
	for _, url := range []string{
		"", "http://user:pass-word@mail.test", "smtp://user:pass-word@:25", "smtps://user:pass-word@mail.test?tls=none",
		"smtp://user:pass-word@mail.test:x", "smtp://user:pass-word@mail.test/path",
	} {
		if _, err := New(Options{URL: url, From: "carillon@acme.test"}); err == nil || strings.Contains(err.Error(), "pass-word") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if _, err := New(Options{URL: "smtps://mail.test", From: "nobody"}); err == nil {
		t.Error("a sender without an address")
	}
	if _, err := New(Options{URL: "smtps://u:p@mail.test", From: "carillon@acme.test"}); err != nil {
		t.Error(err)
	}
}
