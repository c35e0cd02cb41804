// Command release builds a release: for each platform an archive with the static program, its documents, and the
// licenses of the linked modules and the libraries in its pages; a bill of materials; and the checksums of all files.
// It needs Node, which builds the pages.
//
// A release is built from a commit, not from the working tree, and is reproducible: the commit is cloned into a
// separate folder, the toolchain is that of go.mod, paths are trimmed, archives are sorted, and all times are the
// commit's (or SOURCE_DATE_EPOCH).
//
//	go run ./deploy/release [-commit HEAD] [-out dist] [-sign [-key FILE]] [-check]
//
// With -sign it signs the checksums with an Ed25519 key, as `ssh-keygen -Y verify` reads it (sign.go).
// With -check it builds twice, in two folders, with empty caches and in two time zones, and compares the checksums.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"golang.org/x/crypto/ssh"
)

func main() {
	commit := flag.String("commit", "HEAD", "what to release")
	out := flag.String("out", "dist", "folder to write the files to")
	check := flag.Bool("check", false, "make the release twice and compare, writing nothing")
	sign := flag.Bool("sign", false, "sign the checksums")
	keyFile := flag.String("key", os.Getenv(keyEnv), "file of the signing key; default: the variable "+keyEnv)
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *commit, *out, *keyFile, *sign, *check)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// run reads the key first, so that a release without it is refused before it is built.
func run(ctx context.Context, commit, out, keyFile string, sign, check bool) error {
	if check {
		return compare(ctx, commit, os.Stdout)
	}
	if !sign {
		return release(ctx, commit, out, nil, os.Stdout)
	}
	key, err := signer(keyFile)
	if err != nil {
		return err
	}
	if err := release(ctx, commit, out, nil, os.Stdout); err != nil {
		return err
	}
	sums, err := os.ReadFile(filepath.Join(out, sumsName)) //nolint:gosec // written a moment ago
	if err != nil {
		return err
	}
	sig, err := signature(key, sums)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, signatureName), sig, 0o644); err != nil { //nolint:gosec // published
		return err
	}
	_, err = fmt.Fprintf(os.Stdout, "signed by: releases %s", ssh.MarshalAuthorizedKey(key.PublicKey()))
	return err
}

// release builds into the folder out with additional environment variables, and prints the checksums.
func release(ctx context.Context, commit, out string, environment []string, stdout io.Writer) (err error) {
	work, err := os.MkdirTemp("", "carillon-release-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	src, err := cloneAt(ctx, commit, filepath.Join(work, "source"), environment)
	if err != nil {
		return err
	}
	if err := src.pages(ctx); err != nil {
		return err
	}
	pages, err := src.libraries()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil { //nolint:gosec // a published folder
		return err
	}
	var made []string
	for _, p := range platforms {
		b, err := src.build(ctx, p, filepath.Join(work, p.name()))
		if err != nil {
			return err
		}
		bill, err := b.bill(pages)
		if err != nil {
			return err
		}
		files, err := src.contents(ctx, b, pages, bill)
		if err != nil {
			return err
		}
		var archive bytes.Buffer
		if err := writeArchive(&archive, b.title(), files, src.time); err != nil {
			return err
		}
		for name, data := range map[string][]byte{b.title() + ".tar.gz": archive.Bytes(), b.title() + ".cdx.json": bill} {
			if err := os.WriteFile(filepath.Join(out, name), data, 0o644); err != nil { //nolint:gosec // published
				return err
			}
			made = append(made, name)
		}
	}
	sums, err := sumsOf(out, made)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, sumsName), sums, 0o644); err != nil { //nolint:gosec // published
		return err
	}
	_, err = stdout.Write(sums)
	return err
}

// compare builds the release twice under different conditions and fails unless the checksums are equal.
func compare(ctx context.Context, commit string, stdout io.Writer) (err error) {
	work, err := os.MkdirTemp("", "carillon-twice-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	var sums [2][]byte
	for i, zone := range []string{"UTC", "Asia/Tokyo"} {
		out := filepath.Join(work, []string{"one", "another place"}[i])
		cache := filepath.Join(work, fmt.Sprintf("cache-%d", i))
		_, _ = fmt.Fprintf(stdout, "build %d of 2, with an empty cache\n", i+1)
		if err := release(ctx, commit, out, []string{"GOCACHE=" + cache, "TZ=" + zone, "TMPDIR=" + work}, stdout); err != nil {
			return err
		}
		if sums[i], err = os.ReadFile(filepath.Join(out, sumsName)); err != nil { //nolint:gosec // written a moment ago
			return err
		}
		if err := os.RemoveAll(cache); err != nil {
			return err
		}
	}
	if !bytes.Equal(sums[0], sums[1]) {
		return errors.New("the two builds differ")
	}
	_, err = fmt.Fprintln(stdout, "both builds are the same, byte for byte")
	return err
}
