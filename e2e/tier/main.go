// Command tier runs `go test` for a target of the Makefile and reports the results: a line when each package ends, the
// full output of failures, the ten slowest tests, and the counts. All test processes share one PostgreSQL, unless the
// run excludes it.
//
//	go run ./e2e/tier -parallel 8 ./...
//
// Its arguments are those of `go test`. It exits with 1 if a test failed or a package did not build.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"carillon/internal/base/need"
	"carillon/internal/store/storetest"
)

func main() {
	passed, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tier:", err)
	}
	if err != nil || !passed {
		os.Exit(1)
	}
}

// run runs `go test` with these arguments, and reports whether everything passed.
func run(args []string, out io.Writer) (passed bool, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	env, end, err := withServer()
	if err != nil {
		return false, err
	}
	defer func() {
		if failure := end(); err == nil {
			err = failure
		}
	}()
	begin := time.Now()
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Env, cmd.Stderr = env, os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	r := newReport(out)
	readErr := r.read(events)
	if err := cmd.Wait(); err != nil && r.failed == 0 {
		return false, fmt.Errorf("go test: %w", err)
	}
	r.summary(time.Since(begin))
	return r.failed == 0 && readErr == nil, readErr
}

// withServer starts a PostgreSQL for all test processes, unless one is configured or none is wanted, and returns their
// environment.
func withServer() (env []string, end func() error, err error) {
	env = os.Environ()
	if need.Left("postgres") || os.Getenv(storetest.PostgresEnv) != "" {
		return env, func() error { return nil }, nil
	}
	dsn, end, err := storetest.Shared()
	if err != nil {
		if os.Getenv("CI") != "" {
			return nil, nil, err
		}
		fmt.Fprintln(os.Stderr, err) // the tests that need it are skipped
		return env, func() error { return nil }, nil
	}
	return append(env, storetest.PostgresEnv+"="+dsn), end, nil
}
