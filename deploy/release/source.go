package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// source is a commit, checked out in a separate folder.
type source struct {
	folder      string
	time        time.Time // of the commit, or SOURCE_DATE_EPOCH
	environment []string  // of all commands that run in the folder
}

// cloneAt checks out a commit of the repository in the working directory.
func cloneAt(ctx context.Context, commit, folder string, environment []string) (*source, error) {
	s := &source{folder: ".", environment: environment}
	id, err := s.output(ctx, "git", "rev-parse", "--verify", commit+"^{commit}")
	if err != nil {
		return nil, err
	}
	root, err := s.output(ctx, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	if _, err := s.output(ctx, "git", "clone", "--quiet", "--no-checkout", "--no-hardlinks", root, folder); err != nil {
		return nil, err
	}
	s.folder = folder
	if _, err := s.output(ctx, "git", "-c", "advice.detachedHead=false", "checkout", "--quiet", "--detach", id); err != nil {
		return nil, err
	}
	stamp := os.Getenv("SOURCE_DATE_EPOCH")
	if stamp == "" {
		if stamp, err = s.output(ctx, "git", "log", "-1", "--format=%ct"); err != nil {
			return nil, err
		}
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the time of the release must be seconds since 1970: %w", err)
	}
	s.time = time.Unix(seconds, 0).UTC()
	return s, s.pin()
}

var goLine = regexp.MustCompile(`(?m)^go (\d+\.\d+\.\d+)$`)

// pin makes the build independent of the environment: it selects the toolchain of go.mod and clears flags, experiments
// and processor features.
func (s *source) pin() error {
	text, err := os.ReadFile(filepath.Join(s.folder, "go.mod"))
	if err != nil {
		return err
	}
	version := goLine.FindSubmatch(text)
	if version == nil {
		return errors.New("go.mod names no exact version of Go")
	}
	s.environment = append(s.environment, "GOTOOLCHAIN=go"+string(version[1]), "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off",
		"GODEBUG=", "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "LC_ALL=C")
	return nil
}

// output runs a command in the source's folder and returns its output without the final line break.
func (s *source) output(ctx context.Context, name string, args ...string) (string, error) {
	return s.run(ctx, nil, name, args...)
}

func (s *source) run(ctx context.Context, more []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // git and go, with arguments of this program
	cmd.Dir = s.folder
	cmd.Env = append(append(os.Environ(), s.environment...), more...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, args[0], err, strings.TrimSpace(errs.String()))
	}
	return strings.TrimRight(out.String(), "\n"), nil
}
