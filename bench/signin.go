package main

import (
	"context"
	"time"
)

// measureSignIn has 64 connections sign in without pause, and looks at what the rest of the program does meanwhile.
func (b *bench) measureSignIn(ctx context.Context) error {
	n, err := b.on(ctx, engines()[0], "http://127.0.0.1:9")
	if err != nil {
		return err
	}
	defer n.stop()
	send := request("POST", notifyPath("ck_bench_much"), body(1, 600000000, never))
	most, err := closedLoop(ctx, n.addr, send, 64, 2*time.Second)
	if err != nil {
		return err
	}
	signIn := request("POST", "/functions/v1/auth?grant_type=password", `{"email":"owner@bench.test","password":"correct-horse-battery"}`)
	speed := &row{figure: "Sign-in, 64 connections", how: "sign-ins/s", yard: "K", goal: "≥ 0.90", good: atLeast(0.9)}
	beside := &row{figure: "Accepting while 64 sign in", how: "ms, p99 at 30 % of the maximum", yard: "without them:", goal: "≤ 2", good: atMost(2)}
	for range b.rounds {
		k, err := b.bareHash(3)
		if err != nil {
			return err
		}
		rate, err := closedLoop(ctx, n.addr, signIn, 64, 4*time.Second)
		if err != nil {
			return err
		}
		speed.add(rate, k)
		if err := settle(ctx, n.child); err != nil {
			return err
		}
		alone, crowd, err := b.besideSignIns(ctx, n, send, signIn, 0.3*most)
		if err != nil {
			return err
		}
		beside.add(crowd, alone)
		b.say("%s: %.0f/s, K %.0f/s; accepting p99 %.1f ms, without %.1f ms", speed.figure, rate, k, crowd, alone)
	}
	b.table.add(speed, beside)
	return nil
}

// besideSignIns gives the p99 of accepting without and with 64 connections that sign in.
func (b *bench) besideSignIns(ctx context.Context, n *node, send, signIn []byte, rate float64) (alone, crowd float64, err error) {
	d := pick(b, 5*time.Second, 3*time.Second)
	took, err := openLoop(ctx, n.addr, send, 16, rate, d)
	if err != nil {
		return 0, 0, err
	}
	alone = took.Milliseconds(0.99)
	if err := settle(ctx, n.child); err != nil {
		return 0, 0, err
	}
	ended := make(chan error, 1)
	go func() {
		_, err := closedLoop(ctx, n.addr, signIn, 64, d+time.Second)
		ended <- err
	}()
	if err := rest(ctx, time.Second/2); err != nil {
		return 0, 0, err
	}
	took, err = openLoop(ctx, n.addr, send, 16, rate, d)
	if other := <-ended; err == nil {
		err = other
	}
	return alone, took.Milliseconds(0.99), err
}
