package db

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

func TestTheHostsOfAURL(t *testing.T) {
	for name, c := range map[string]struct {
		url     string
		hosts   []string
		each    time.Duration
		timeout string // lock_timeout
	}{
		"one":                     {"postgres://u@a/x", []string{"a"}, 5 * time.Second, "3000"},
		"three":                   {"postgres://u@a,b,c/x", []string{"a", "b", "c"}, 2 * time.Second, "3000"},
		"a connect time-out":      {"postgres://u@a,b/x?connect_timeout=7", []string{"a", "b"}, 7 * time.Second, "3000"},
		"an own setting":          {"postgres://u@a/x?lock_timeout=900", []string{"a"}, 5 * time.Second, "900"},
		"optional TLS, two ports": {"postgres://u@a:1,a:2/x?sslmode=prefer", []string{"a", "a"}, 2 * time.Second, "3000"},
	} {
		t.Run(name, func(t *testing.T) {
			var h hosts
			settings, err := h.read(c.url)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, x := range h.all {
				got = append(got, x.Host)
				if x.ConnectTimeout != c.each || len(x.RuntimeParams) != 1 || x.RuntimeParams["application_name"] != "carillon" {
					t.Error(x.ConnectTimeout, x.RuntimeParams)
				}
			}
			if !slices.Equal(got, c.hosts) || settings["lock_timeout"] != c.timeout || h.connect != time.Duration(len(got))*c.each {
				t.Error(got, settings, h.connect)
			}
		})
	}
}

func TestTheHostThatServedLastIsTriedFirst(t *testing.T) {
	var h hosts
	if _, err := h.read("postgres://u@a,b,c/x"); err != nil {
		t.Fatal(err)
	}
	up := 1
	var tried []int
	try := func() error {
		tried = nil
		return h.try(t.Context(), func(i int) error {
			if tried = append(tried, i); i != up {
				return errors.New("down")
			}
			return nil
		})
	}
	for _, want := range [][]int{{0, 1}, {1}} {
		if err := try(); err != nil || !slices.Equal(tried, want) {
			t.Error(tried, err)
		}
	}
	up = 0
	if err := try(); err != nil || !slices.Equal(tried, []int{1, 2, 0}) {
		t.Error(tried, err)
	}
	up = -1
	if err := try(); err == nil || len(tried) != 3 {
		t.Error(tried, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tried = nil
	if err := h.try(ctx, func(i int) error { tried = append(tried, i); return ctx.Err() }); err == nil || len(tried) != 1 {
		t.Error("a caller who left waits for every host:", tried, err)
	}
}
