// Package mail sends e-mails to members of companies, invitations and links for forgotten passwords, by an SMTP server.
package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	smtp "github.com/wneessen/go-mail"
)

// Message is an e-mail to one person, as text and as HTML of the same content.
type Message struct {
	To      string
	Subject string
	Text    string
	HTML    string
}

// Options configure a Mailer.
type Options struct {
	// URL is the server's address. smtp:// encrypts the connection before anything is said (STARTTLS) and refuses a server that
	// cannot, unless the query says tls=none; smtps:// is encrypted from the start. A user and password in it sign in.
	URL  string
	From string // address, with or without a name
	Log  *slog.Logger
}

const (
	timeout = 15 * time.Second // for a whole e-mail
	waiting = 256              // that Post keeps
)

// Mailer sends e-mails. Its methods are safe for concurrent use.
type Mailer struct {
	host string
	tls  bool // from the start
	opts []smtp.Option
	from string
	log  *slog.Logger
	jobs chan Job
}

// New returns a mailer. Errors say what of the options is wrong, without the address, which may have a password.
func New(o Options) (*Mailer, error) {
	m := &Mailer{from: o.From, log: o.Log, jobs: make(chan Job, waiting)}
	if err := m.read(o.URL); err != nil {
		return nil, err
	}
	if err := smtp.NewMsg().From(o.From); err != nil {
		return nil, errors.New("the sender's address is not of the form Carillon <carillon@example.com>")
	}
	return m, nil
}

var errURL = errors.New("the mail server is not of the form smtp://user:password@mail.example.com:587 or smtps://… (not shown: it " +
	"may hold a password)")

// read reads the server's address.
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

// Send sends an e-mail, and returns once the server has taken it. Errors are for the administrator: they hold no credentials.
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
	msg.SetBodyString(smtp.TypeTextPlain, x.Text)
	msg.AddAlternativeString(smtp.TypeTextHTML, x.HTML)
	// The library leaves the connection open when the server refuses something, and waits for a silent one whatever the context says.
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

// Job makes an e-mail, or nil where there is nobody to write to.
type Job func(ctx context.Context) (*Message, error)

// Post has Run make and send an e-mail, so that the response to a request does not depend on whether there is somebody to write
// to, not even by its time. It reports false where too many wait.
func (m *Mailer) Post(make Job) bool {
	select {
	case m.jobs <- make:
		return true
	default:
		return false
	}
}

// Run sends what Post was given until ctx ends; then it sends what waits, for as long as an e-mail may take.
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
