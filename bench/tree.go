package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// provisioning is the provisioning file. Limits and quotas are enabled but never reached.
//
//go:embed provision.yaml
var provisioning string

// plain is the provisioning file of a comparison: what all versions understand, so that all do the same.
//
//go:embed plain.yaml
var plain string

// tree is a version of the program under test: the working copy, or a commit of -against.
type tree struct {
	name   string // empty for the working copy
	server string // path of the program
}

// workingCopy builds the program of the working copy, unless server is the path of one.
func (b *bench) workingCopy(ctx context.Context, server string) (tree, error) {
	t := tree{server: server}
	if server != "" {
		return t, nil
	}
	t.server = filepath.Join(b.dir, "carillon")
	return t, b.build(ctx, "..", t.server)
}

// commitTree builds the program of a commit, without its pages.
func (b *bench) commitTree(ctx context.Context, rev string) (tree, error) {
	dir, err := os.MkdirTemp(b.dir, "tree")
	if err != nil {
		return tree{}, err
	}
	archive := exec.CommandContext(ctx, "git", "archive", rev)
	unpack := exec.CommandContext(ctx, "tar", "-x", "-C", dir)
	archive.Dir, archive.Stderr, unpack.Stderr = "..", os.Stderr, os.Stderr
	r, w := io.Pipe()
	archive.Stdout, unpack.Stdin = w, r
	if err := unpack.Start(); err != nil {
		return tree{}, err
	}
	err = archive.Run()
	_ = w.CloseWithError(err)
	if err2 := unpack.Wait(); err != nil || err2 != nil {
		return tree{}, fmt.Errorf("unpack commit %s: %w, %w", rev, err, err2)
	}
	t := tree{name: rev, server: filepath.Join(dir, "carillon")}
	return t, b.build(ctx, dir, t.server)
}

func (b *bench) build(ctx context.Context, dir, server string) error {
	args := []string{"build", "-trimpath", "-buildvcs=false", "-o", server}
	if b.probed {
		probe, err := b.overlay(dir)
		if err != nil {
			return err
		}
		args = append(args, probe)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/carillon")...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build the program in %s: %w", dir, err)
	}
	return nil
}

// subject is a version of the program on an engine: one of those that are measured in turns.
type subject struct {
	*tree
	engine
	turn int // in the order of subjects
}

// provisioning returns the content of the node's provisioning file.
func (o *nodeOptions) provisioning() string {
	if o.plain {
		return plain
	}
	return provisioning
}

// subjects are all versions on all engines.
func (b *bench) subjects() (all []subject) {
	for _, e := range engines() {
		for i := range b.trees {
			all = append(all, subject{&b.trees[i], e, len(all)})
		}
	}
	return all
}

// String is the end of a figure's name.
func (s subject) String() string {
	return strings.TrimSuffix(s.engine.name+", "+s.tree.name, ", ")
}

// pick returns the floor of the subject's engine: SQLite's or PostgreSQL's.
func (s subject) pick(floors [2]float64) float64 {
	if s.postgres {
		return floors[1]
	}
	return floors[0]
}

// serveSubjects starts all versions on empty databases, and suspends them. They are stopped by the function returned.
func (b *bench) serveSubjects(ctx context.Context, all []subject, providerURL string) (nodes []*node, stop func()) {
	for _, s := range all {
		o := b.emptyOptions(ctx, s.engine, providerURL)
		o.tree, o.plain = s.tree, len(b.trees) > 1
		nodes = append(nodes, b.serve(ctx, o))
	}
	each := func(do func(n *node)) {
		for _, n := range nodes {
			do(n)
		}
	}
	// Only now: PostgreSQL creates and drops no database while a session waits for its suspended node to read.
	each(func(n *node) { n.suspend() })
	return nodes, func() {
		each(func(n *node) { n.resume() })
		each(b.discard)
	}
}

// inTurns calls measure with each subject in each round, which another one begins: the machine's drift hits all.
func inTurns(all []subject, rounds int, begin func(round int), measure func(round int, s subject)) {
	for round := range rounds {
		begin(round)
		for i := range all {
			measure(round, all[(round+i)%len(all)])
		}
	}
}
