package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"carillon/internal/load"
)

// measureBusy keeps 256 connections at SQLite with sends that are delivered at once and every kind of reading between
// them: no caller may ever see that the database was busy.
func (b *bench) measureBusy(ctx context.Context) error {
	p, err := b.provider()
	if err != nil {
		return err
	}
	defer p.stop()
	n, err := b.on(ctx, engines()[0], p.url)
	if err != nil {
		return err
	}
	defer b.retire(n)
	seconds := pick(b, 60, 15)
	mix, err := b.mixture(ctx, n)
	if err != nil {
		return err
	}
	l := load.Load{Addr: n.addr, Conns: 256, For: time.Duration(seconds) * time.Second, Tolerant: true, Request: mix.request, Seen: mix.seen}
	result, err := l.Run(ctx)
	if err != nil {
		return err
	}
	bad := &row{
		figure: fmt.Sprintf("Busy SQLite: 256 connections for %d s, sends, lists, shows, usage, keys", seconds), how: "answers that are not 2xx, " + statuses(result),
		goal: "= 0", good: under(0),
	}
	bad.add(float64(result.Other.Count()+result.Broken.Load()), 0)
	rate := &row{figure: "Busy SQLite", how: fmt.Sprintf("answers/s; p99 %s ms", show(result.OK.Milliseconds(0.99)))}
	rate.add(result.Rate(), 0)
	b.table.add(bad, rate)
	b.say("%s: %s", bad.figure, statuses(result))
	return nil
}

// statuses tells how many answers came with each status.
func statuses(r *load.Result) string { return statusesOf(r.Answers(), r.Broken.Load()) }

func statusesOf(answers map[int]int64, broken int64) string {
	var s []string
	for _, status := range slices.Sorted(maps.Keys(answers)) {
		s = append(s, fmt.Sprintf("%d × %d", answers[status], status))
	}
	if broken > 0 {
		s = append(s, fmt.Sprintf("%d broken connections", broken))
	}
	return strings.Join(s, ", ")
}

// mixture is what the clients of a company ask for, in turn.
type mixture struct {
	sendNow, sendLater, hundred, list, usage, keys []byte
	last                                           atomic.Pointer[[]byte] // shows a notification that was accepted lately
}

func (b *bench) mixture(ctx context.Context, n *node) (*mixture, error) {
	token, err := signIn(ctx, n)
	if err != nil {
		return nil, err
	}
	with := func(path string) string { return "/functions/v1/" + path + "?access_key=ck_bench_much" }
	m := &mixture{
		sendNow:   request("POST", with("notify"), body(1, 600000000, time.Time{})),
		sendLater: request("POST", with("notify"), body(1, 600000000, never)),
		hundred:   request("POST", with("notify"), body(100, 600000000, never)),
		list:      request("GET", with("notify")+"&limit=20", ""),
		usage:     request("GET", with("usage"), ""),
		keys:      request("POST", "/functions/v1/api_keys", "{}", "Authorization: Bearer "+token),
	}
	m.last.Store(&m.list)
	return m, nil
}

func (m *mixture) request(_, k int) []byte {
	switch k % 20 {
	case 3:
		return m.hundred
	case 6, 16:
		return m.list
	case 9, 19:
		return *m.last.Load()
	case 12:
		return m.usage
	case 14:
		return m.keys
	case 0, 5, 10, 15:
		return m.sendNow
	default:
		return m.sendLater
	}
}

func (m *mixture) seen(_, k int, a load.Answer, _ time.Duration) {
	if k%20 != 0 || a.Status != 200 {
		return
	}
	if id, found := notificationID(a.Body); found {
		show := request("GET", "/functions/v1/notify/"+id+"?access_key=ck_bench_much", "")
		m.last.Store(&show)
	}
}

// notificationID is the id that an answer to a send tells.
func notificationID(answer []byte) (string, bool) {
	_, rest, found := strings.Cut(string(answer), `"notification_id":"`)
	if !found || len(rest) < 36 {
		return "", false
	}
	return rest[:36], true
}

// signIn gives an access token of the owner.
func signIn(ctx context.Context, n *node) (string, error) {
	c, err := load.Dial(ctx, n.addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	text, err := ok(c, request("POST", "/functions/v1/auth?grant_type=password", `{"email":"owner@bench.test","password":"correct-horse-battery"}`))
	if err != nil {
		return "", err
	}
	var session struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal(text, &session); err != nil {
		return "", err
	}
	if session.Token == "" {
		return "", errors.New("signing in gave no token")
	}
	return session.Token, nil
}
