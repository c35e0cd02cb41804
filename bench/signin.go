package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"carillon/internal/load"
)

// measureSignIn has 64 connections sign in without pause, and looks at what the rest of the program does meanwhile.
func (b *bench) measureSignIn(ctx context.Context) error {
	for _, e := range engines() {
		if err := b.signInOn(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) signInOn(ctx context.Context, e engine) error {
	n, err := b.on(ctx, e, "http://127.0.0.1:9")
	if err != nil {
		return err
	}
	defer b.retire(n)
	send := sendOne()
	most, err := closedLoop(ctx, n.addr, send, clients, 2*time.Second)
	if err != nil {
		return err
	}
	others := companyRoutes()
	speed := &row{figure: "Sign-in, 64 connections, " + e.name, how: "sign-ins/s", yard: "K", goal: "≥ 0.90", good: atLeast(0.9)}
	beside := &row{figure: "Other routes while 64 sign in, " + e.name, how: "ms, p99 of sends, lists and templates at 30 % of the maximum of accepting, 64 connections", yard: "without them:", goal: "≤ 2", good: atMost(2)}
	late := &row{figure: "Signing in while 64 send, " + e.name, how: "ms, the slowest beside the maximum of accepting", goal: "≤ 5000 ms", good: under(5000)}
	for range b.rounds {
		k, err := b.bareHash(3)
		if err != nil {
			return err
		}
		rate, err := closedLoop(ctx, n.addr, signInRequest(), 64, 4*time.Second)
		if err != nil {
			return err
		}
		speed.add(rate, k)
		d := pick(b, 3*time.Second, 2*time.Second)
		took, err := inTurns(0, func(side int) (*load.Hist, error) {
			if err := settle(ctx, n.child); err != nil {
				return nil, err
			}
			if side == 1 {
				return b.besideSignIns(ctx, n, others, 0.3*most, d)
			}
			l := load.Load{Addr: n.addr, Conns: clients, For: d, Rate: 0.3 * most, Request: others}
			r, err := l.Run(ctx)
			return &r.OK, err
		})
		if err != nil {
			return err
		}
		slowest, err := slowestSignIn(ctx, n, send, d)
		if err != nil {
			return err
		}
		late.add(slowest, 0)
		beside.add(took[1].Milliseconds(0.99), took[0].Milliseconds(0.99))
		b.shape("Other routes while 64 sign in, "+e.name, took[1])
		b.say("%s: %.0f/s, K %.0f/s; other routes p99 %.1f ms, without %.1f ms; slowest beside 64 that send %.0f ms",
			speed.figure, rate, k, took[1].Milliseconds(0.99), took[0].Milliseconds(0.99), slowest)
	}
	b.table.add(speed, beside, late)
	return nil
}

func signInRequest() []byte {
	return request("POST", "/functions/v1/auth?grant_type=password", `{"email":"owner@bench.test","password":"correct-horse-battery"}`)
}

// companyRoutes are what a company's application asks for: sends, lists and templates.
func companyRoutes() func(conn, k int) []byte {
	send := sendOne()
	list := request("GET", strings.Replace(notifyPath("ck_bench_much"), "?", "?limit=20&", 1), "")
	templates := request("GET", "/functions/v1/notify/templates?phone_number=15555550100&access_key=ck_bench_much", "")
	return func(_, k int) []byte {
		switch k % 10 {
		case 4:
			return list
		case 9:
			return templates
		default:
			return send
		}
	}
}

// slowestSignIn has one connection sign in while 64 send without pause, and gives its longest wait in milliseconds.
func slowestSignIn(ctx context.Context, n *node, send []byte, d time.Duration) (float64, error) {
	ended := make(chan error, 1)
	go func() {
		_, err := closedLoop(ctx, n.addr, send, 64, d+time.Second)
		ended <- err
	}()
	if err := rest(ctx, time.Second/2); err != nil {
		return 0, err
	}
	l := load.Load{Addr: n.addr, Conns: 1, For: d, Request: load.Always(signInRequest())}
	took, err := l.Run(ctx)
	return took.OK.Milliseconds(1), errors.Join(err, <-ended)
}
