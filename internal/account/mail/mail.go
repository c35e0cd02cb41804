// Package mail sends e-mails through an SMTP server: to members of companies, such as invitations and links for forgotten
// passwords, and to visitors who left a conversation.
package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	smtp "github.com/wneessen/go-mail"
)

// Message is an e-mail to one person, as text and as HTML with the same content.
type Message struct {
	To      string
	Subject string
	Text    string
	HTML    string
	// ID is the Message-ID without its domain; without it, a new one is used. Mail servers drop a second e-mail with the same.
	ID string
	// Automatic marks an e-mail whose sender reads no replies, so that automatic replies are not sent either.
	Automatic bool
}

// Options configure a Mailer.
type Options struct {
	// URL is the server's URL. smtp:// encrypts the connection with STARTTLS before any other command, and refuses a
	// server without it, unless the query contains tls=none. smtps:// is encrypted from the start. A user and password
	// in the URL are used to sign in.
	URL  string
	From string // address, with or without a name
	Log  *slog.Logger
}

const (
	timeout = 15 * time.Second // for a complete e-mail
	waiting = 256              // maximum number of waiting jobs
)

// Mailer sends e-mails. Its methods are safe for concurrent use.
type Mailer struct {
	host string
	tls  bool // encrypted from the start
	opts []smtp.Option
	from string
	// domain is the domain of the sender's address.
	domain string
	log    *slog.Logger
	jobs   chan Job
}

// New returns a mailer. Errors name the faulty option but not the URL, which may contain a password.
func New(o Options) (*Mailer, error) {
	m := &Mailer{from: o.From, log: o.Log, jobs: make(chan Job, waiting)}
	if err := m.read(o.URL); err != nil {
		return nil, err
	}
	from, err := mail.ParseAddress(o.From)
	if err != nil || smtp.NewMsg().From(o.From) != nil {
		return nil, errors.New("the sender's address is not of the form Carillon <carillon@example.com>")
	}
	_, m.domain, _ = strings.Cut(from.Address, "@")
	return m, nil
}

var errURL = errors.New("the mail server is not of the form smtp://user:password@mail.example.com:587 or smtps://… (not shown: it " +
	"may hold a password)")

// read parses the server's URL.
func (m *Mailer) read(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Path != "" && u.Path != "/" {
		return errURL
	}
	port, plain := 587, u.Query().Get("tls") == "none"
	m.host, m.opts = u.Hostname(), []smtp.Option{smtp.WithTimeout(timeout)}
	switch {
	case u.RawQuery != "" && u.RawQuery != "tls=none":
		return errURL
	case u.Scheme == "smtps" && !plain:
		port, m.tls = 465, true
		m.opts = append(m.opts, smtp.WithSSL())
	case u.Scheme == "smtp" && plain:
		m.opts = append(m.opts, smtp.WithTLSPolicy(smtp.NoTLS))
	case u.Scheme == "smtp":
		m.opts = append(m.opts, smtp.WithTLSPolicy(smtp.TLSMandatory))
	default:
		return errURL
	}
	if u.Port() != "" {
		if port, err = strconv.Atoi(u.Port()); err != nil {
			return errURL
		}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		method := smtp.SMTPAuthAutoDiscover
		if plain {
			method = smtp.SMTPAuthPlainNoEnc
		}
		m.opts = append(m.opts, smtp.WithSMTPAuth(method), smtp.WithUsername(u.User.Username()), smtp.WithPassword(password))
	}
	m.opts = append(m.opts, smtp.WithPort(port))
	return nil
}

// Send sends an e-mail, and returns when the server has accepted it. Errors are meant for the administrator and
// contain no credentials.
func (m *Mailer) Send(ctx context.Context, x Message) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	msg := smtp.NewMsg()
	if err := errors.Join(msg.From(m.from), msg.To(x.To)); err != nil {
		return fmt.Errorf("address an e-mail: %w", err)
	}
	msg.Subject(x.Subject)
	msg.SetDate()
	msg.SetMessageID()
	if x.ID != "" {
		msg.SetMessageIDWithValue(x.ID + "@" + m.domain)
	}
	if x.Automatic {
		msg.SetGenHeader("Auto-Submitted", "auto-generated")
		msg.SetGenHeader("X-Auto-Response-Suppress", "All")
	}
	msg.SetBodyString(smtp.TypeTextPlain, x.Text)
	msg.AddAlternativeString(smtp.TypeTextHTML, x.HTML)
	// The library leaves the connection open if the server refuses something, and waits for a silent server regardless
	// of the context.
	ended, end := context.WithCancel(ctx)
	defer end()
	dial := func(ctx context.Context, network, address string) (c net.Conn, err error) {
		if m.tls {
			c, err = (&tls.Dialer{Config: &tls.Config{ServerName: m.host, MinVersion: tls.VersionTLS12}}).DialContext(ctx, network, address)
		} else {
			c, err = (&net.Dialer{}).DialContext(ctx, network, address)
		}
		if err == nil {
			context.AfterFunc(ended, func() { _ = c.Close() })
		}
		return c, err
	}
	client, err := smtp.NewClient(m.host, append(slices.Clone(m.opts), smtp.WithDialContextFunc(dial))...)
	if err == nil {
		err = client.DialAndSendWithContext(ctx, msg)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("the mail server does not respond: %w", ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("send an e-mail: %w", err)
	}
	return nil
}

// Refused reports whether the server refused an e-mail for good: another attempt has the same outcome.
func Refused(err error) bool {
	var e *smtp.SendError
	return errors.As(err, &e) && !e.IsTemp() && e.ErrorCode() >= 500
}

// Job builds an e-mail, or returns nil if there is no recipient.
type Job func(ctx context.Context) (*Message, error)

// Post makes Run build and send an e-mail. So the response to a request does not depend on whether there is a
// recipient, not even in its timing. Post returns false if too many jobs are waiting.
func (m *Mailer) Post(make Job) bool {
	select {
	case m.jobs <- make:
		return true
	default:
		return false
	}
}

// Run sends posted e-mails until ctx ends. Then it sends the waiting ones, for as long as one e-mail may take.
func (m *Mailer) Run(ctx context.Context) error {
	for {
		select {
		case job := <-m.jobs:
			m.do(context.WithoutCancel(ctx), job)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
			defer cancel()
			for {
				select {
				case job := <-m.jobs:
					m.do(last, job)
				default:
					return nil
				}
			}
		}
	}
}

func (m *Mailer) do(ctx context.Context, job Job) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	x, err := job(ctx)
	if err == nil && x != nil {
		err = m.Send(ctx, *x)
	}
	if err != nil {
		m.log.WarnContext(ctx, "an e-mail was not sent", "error", err)
	}
}
