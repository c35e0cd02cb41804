package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"carillon/client"
)

type eventsListen struct {
	ForwardTo string   `name:"forward-to" required:"" placeholder:"URL" help:"URL to POST events to, as http://localhost:3000/hook."`
	Types     []string `placeholder:"TYPE" help:"Only events of these types, as message.failed,call.failed."`
	Secret    string   `placeholder:"SECRET" help:"${listen_secret_help}"`
	keyFlags
}

const (
	listenWait   = 20 // seconds that the server may hold a request open (long polling)
	listenPause  = 2 * time.Second
	maxForward   = 15 * time.Second // timeout of the local program's response, as for a webhook
	maxForwarded = 64 << 10         // limit for reading the response body
)

// forwarded is the result of forwarding one event.
type forwarded struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Status   int    `json:"status,omitempty"`
	Error    string `json:"error,omitempty"`
	Duration int64  `json:"duration_ms"`
}

// Run forwards events until it is interrupted. It does not retry an event that the local program refuses.
func (l *eventsListen) Run(ctx context.Context, env *environment) error {
	if u, err := url.Parse(l.ForwardTo); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return usage("--forward-to must be an address like http://localhost:3000/hook")
	}
	secret := orElse(l.Secret, newSigningSecret())
	signer, err := signerOf(secret)
	if err != nil {
		return err
	}
	c, _, err := l.connect(env)
	if err != nil {
		return err
	}
	page, err := pull(ctx, c, l.query(0), nil)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(env.Stderr, "events of %s go to %s from now on; Ctrl-C ends\n", c.Base(), l.ForwardTo)
	if l.Secret == "" {
		_, _ = fmt.Fprintf(env.Stderr, "they are signed with %s\n", secret)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	local := &http.Client{Timeout: maxForward, CheckRedirect: stay}
	for cursor := page.NextCursor; ; cursor = page.NextCursor {
		if page, err = l.next(ctx, env, c, cursor); err != nil {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // interrupted
			}
			return err
		}
		for _, e := range page.Data {
			x := l.forward(ctx, local, signer, e)
			if ctx.Err() != nil {
				return nil //nolint:nilerr // this is not an error of the event
			}
			if err := l.print(env, x); err != nil {
				return err
			}
		}
	}
}

func (l *eventsListen) query(wait int) url.Values {
	q := url.Values{}
	if wait > 0 {
		q.Set("wait", strconv.Itoa(wait))
	}
	if len(l.Types) > 0 {
		q.Set("types", strings.Join(l.Types, ","))
	}
	return q
}

// next waits for events. It keeps retrying while the program is unreachable, for example during a restart.
func (l *eventsListen) next(ctx context.Context, env *environment, c *client.Client, cursor string) (*pulledEvents, error) {
	for {
		page, err := pull(ctx, c, l.query(listenWait), &cursor)
		if _, gone := errors.AsType[*client.Unreachable](err); !gone || ctx.Err() != nil {
			return page, err
		}
		_, _ = fmt.Fprintf(env.Stderr, "%v; trying again in %v\n", err, listenPause)
		if err := client.Pause(ctx, listenPause); err != nil {
			return nil, err
		}
	}
}

func newSigningSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand aborts the program instead
	return "whsec_" + base64.StdEncoding.EncodeToString(b[:])
}

func signerOf(secret string) (*standardwebhooks.Webhook, error) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || !strings.HasPrefix(secret, "whsec_") || len(raw) < 24 || len(raw) > 64 {
		return nil, usage("--secret must be whsec_ and the base64 of 24 to 64 bytes")
	}
	return standardwebhooks.NewWebhook(secret)
}

// forward posts an event in the same form as a webhook.
func (l *eventsListen) forward(ctx context.Context, local *http.Client, signer *standardwebhooks.Webhook, e event) forwarded {
	x, began := forwarded{ID: e.ID, Type: e.Type}, time.Now()
	status, err := post(ctx, local, signer, l.ForwardTo, e, began)
	x.Status, x.Duration = status, time.Since(began).Milliseconds()
	if err != nil {
		x.Error = err.Error()
		if ue, ok := errors.AsType[*url.Error](err); ok { // drop the URL, whose query may contain a secret
			x.Error = ue.Err.Error()
		}
	}
	return x
}

func post(ctx context.Context, local *http.Client, signer *standardwebhooks.Webhook, to string, e event, at time.Time) (int, error) {
	signature, err := signer.Sign(e.ID, at, e.text)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(e.text))
	if err != nil {
		return 0, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "Carillon", "Webhook-Id": e.ID,
		"Webhook-Timestamp": strconv.FormatInt(at.Unix(), 10), "Webhook-Signature": signature,
	} {
		req.Header.Set(name, value)
	}
	resp, err := local.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxForwarded)) // only the status matters
	return resp.StatusCode, nil
}

func (l *eventsListen) print(env *environment, x forwarded) error {
	if l.JSON {
		return writeLine(env.Stdout, x)
	}
	outcome := x.Error
	if outcome == "" {
		outcome = fmt.Sprintf("%d in %d ms", x.Status, x.Duration)
	}
	_, err := fmt.Fprintf(env.Stdout, "%s  %s  %s  %s\n", time.Now().Format("15:04:05"), x.Type, x.ID, outcome)
	return err
}
