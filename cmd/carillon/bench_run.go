package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"carillon/internal/app"
	"carillon/internal/load"
)

// benchRun measures one program, which it starts in this process, as an operator's machine would run it.
type benchRun struct {
	place  *benchPlace
	lasts  time.Duration
	say    func(text string)
	result benchResult

	sink *benchSink
	addr string
}

const benchKey = "ck_carillon_bench"

// benchSetUp is a company without limits that are ever reached.
func benchSetUp(provider string) string {
	return `companies:
  - name: Bench
    limits: {sends_per_minute: 100000000, daily_recipients: 1000000000}
    keys: [{key: ` + benchKey + `}]
    senders:
      - {id: main, number: "15555550100", channel: messaging, provider: whatsapp, default: true, media_check: syntax, per_second: 0, per_recipient_interval: 0s,
         settings: {base_url: "` + provider + `", version: v23.0, phone_number_id: "1", waba_id: "2", access_token: none, app_secret: none, verify_token: none}}
    templates:
      - {sender: main, name: order_update, language: en, category: UTILITY, body: "Hello {{1}}, order {{2}} comes {{3}}.", examples: {body: [Ana, A-1, Monday]}}
`
}

// benchBody is a request to so many recipients; a zero due time is now.
func benchBody(n int, due time.Time) []byte {
	contact := func(i int) string {
		return fmt.Sprintf(`{"number":"34%09d","name":"Ana Garcia","email":"ana@example.com","city":"Madrid"}`, 600_000_000+i)
	}
	to := `"contact":` + contact(0)
	if n > 1 {
		all := make([]string, n)
		for i := range all {
			all[i] = contact(i)
		}
		to = `"contacts":[` + strings.Join(all, ",") + "]"
	}
	when := ""
	if !due.IsZero() {
		when = `"datetime_sending":"` + due.UTC().Format("2006-01-02T15:04:05.000") + `","timezone":"UTC",`
	}
	return load.Request("POST", "/functions/v1/notify?access_key="+benchKey, "{"+to+","+when+`"recipient_id":"main","name_template":"order_update",`+
		`"language_template":"en","notification_type":"transactional","campaign_name":"bench","components_push":{"body_text_0":"{{name}}","body_text_1":"A-1042","body_text_2":"Monday"}}`)
}

// benchNever is a due time that no run lives to see.
func benchNever() time.Time { return time.Date(2099, 1, 1, 9, 0, 0, 0, time.UTC) }

func (r *benchRun) add(name string, value float64, unit, doc string) {
	r.result.Figures = append(r.result.Figures, benchFigure{name, value, unit, doc})
	r.say(fmt.Sprintf("%s: %s %s", name, shortNumber(value), unit))
}

// measure takes all figures, each in its share of the time.
func (r *benchRun) measure(ctx context.Context) (err error) {
	r.result.Engine = "SQLite"
	if r.place.scratch != nil {
		r.result.Engine = "PostgreSQL"
		off, err := r.place.scratch.Durable(ctx)
		if err != nil {
			return err
		}
		if len(off) > 0 {
			r.result.Warnings = append(r.result.Warnings, "off in this PostgreSQL, so that a power loss loses what was accepted: "+strings.Join(off, ", "))
		}
	}
	if err := r.commits(ctx, r.lasts/20); err != nil {
		return err
	}
	if r.sink, err = newBenchSink(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.sink.close()) }()
	cfg, err := r.place.config(r.sink.url)
	if err != nil {
		return err
	}
	a, err := app.New(cfg, app.Options{})
	if err != nil {
		return err
	}
	if err := a.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Stop(context.WithoutCancel(ctx))) }()
	r.addr = strings.TrimPrefix(a.BaseURL(), "http://")
	for _, step := range []func(context.Context) error{r.idle, r.accept, r.drain} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// commits times the smallest durable write, one after the other.
func (r *benchRun) commits(ctx context.Context, d time.Duration) error {
	commit, done, err := r.place.commit(ctx)
	if err != nil {
		return err
	}
	h := &load.Hist{}
	for begin := time.Now(); time.Since(begin) < d && ctx.Err() == nil && err == nil; {
		from := time.Now()
		err = commit()
		h.Add(time.Since(from))
	}
	if err = errors.Join(err, done(), ctx.Err()); err != nil {
		return err
	}
	doc := "the smallest write, and a sync of the disk"
	if r.place.scratch != nil {
		doc = "the smallest transaction, with the way to the database"
	}
	r.add("commit_p50", h.Milliseconds(0.5), "ms", doc)
	r.add("commit_p99", h.Milliseconds(0.99), "ms", doc)
	return nil
}

// idle sends single messages to a program that does nothing else.
func (r *benchRun) idle(ctx context.Context) error {
	count := int(r.lasts.Seconds() * 5)
	full := r.sink.expect(count)
	left := make(map[string]time.Time, count)
	now := benchBody(1, time.Time{})
	l := load.Load{
		Addr: r.addr, Conns: 1, Rate: 40, For: time.Duration(count) * time.Second / 40, Request: func(int, int) []byte { return now },
		Seen: func(_, _ int, a load.Answer, took time.Duration) {
			if id, found := benchID(a.Body); found {
				left[id] = time.Now().Add(-took) // one connection: nothing else writes here
			}
		},
	}
	if _, err := l.Run(ctx); err != nil {
		return err
	}
	if err := await(ctx, full, 30*time.Second); err != nil {
		return err
	}
	h := &load.Hist{}
	for id, at := range r.sink.times() {
		h.Add(at.Sub(left[id]))
	}
	r.add("idle_p50", h.Milliseconds(0.5), "ms", "from the request to the message at the provider, nothing else going on")
	r.add("idle_p99", h.Milliseconds(0.99), "ms", "the same")
	return nil
}

// accept takes the rates of closed loops and the latency at 30 % of the first.
func (r *benchRun) accept(ctx context.Context) error {
	one := load.Load{Addr: r.addr, Conns: 64, For: r.lasts / 5, Request: load.Always(benchBody(1, benchNever()))}
	most, err := one.Run(ctx)
	if err != nil {
		return err
	}
	r.add("accept", most.Rate(), "requests/s", "one recipient each, 64 connections")
	hundred := load.Load{Addr: r.addr, Conns: 64, For: r.lasts / 10, Request: load.Always(benchBody(100, benchNever()))}
	many, err := hundred.Run(ctx)
	if err != nil {
		return err
	}
	r.add("accept_100", 100*many.Rate(), "messages/s", "a hundred recipients each, 64 connections")
	part := one
	part.Conns, part.Rate, part.Poisson = 16, 0.3*most.Rate(), true
	took, err := part.Run(ctx)
	if err != nil {
		return err
	}
	doc := "of accepting at 30 % of the rate, requests at random instants"
	r.add("accept_p50", took.OK.Milliseconds(0.5), "ms", doc)
	r.add("accept_p99", took.OK.Milliseconds(0.99), "ms", doc)
	return nil
}

// drain queues messages for one instant and takes the time until the provider has them all.
func (r *benchRun) drain(ctx context.Context) error {
	rate := max(r.figure("accept_100"), 100)
	messages := max(1000, min(40_000, int(rate*r.lasts.Seconds()/20)/100*100))
	room := 2*time.Second + time.Duration(3*float64(messages)/rate*float64(time.Second))
	for {
		due := time.Now().Add(room)
		full := r.sink.expect(messages)
		req := benchBody(100, due)
		if err := load.Each(ctx, r.addr, 8, messages/100, func(int) []byte { return req }); err != nil {
			return err
		}
		late := time.Now().After(due)
		if err := await(ctx, full, time.Until(due)+5*time.Minute); err != nil {
			return err
		}
		if late { // the machine did something else: accepting took until the messages were due
			room *= 2
			continue
		}
		last := due
		for _, at := range r.sink.times() {
			if at.After(last) {
				last = at
			}
		}
		r.add("deliver", float64(messages)/last.Sub(due).Seconds(), "messages/s", fmt.Sprintf("%d due at one instant, to a provider on loopback", messages))
		return nil
	}
}

func (r *benchRun) figure(name string) float64 {
	i := slices.IndexFunc(r.result.Figures, func(f benchFigure) bool { return f.Name == name })
	return r.result.Figures[i].Value
}

// benchID is the id that an answer to a send tells.
func benchID(answer []byte) (string, bool) {
	_, rest, found := strings.Cut(string(answer), `"notification_id":"`)
	if !found || len(rest) < 36 {
		return "", false
	}
	return rest[:36], true
}

func await(ctx context.Context, done <-chan struct{}, within time.Duration) error {
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-done:
		return nil
	case <-t.C:
		return fmt.Errorf("not all messages came within %s", within.Round(time.Second))
	case <-ctx.Done():
		return ctx.Err()
	}
}
