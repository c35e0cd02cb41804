package main

import (
	"fmt"
	"strings"
)

// next suggests the command to run next, for people who set up the program for the first time. It writes to standard
// error, and nothing with --json, so scripts do not see it.
func (e *environment) next(asJSON bool, words ...string) {
	if !asJSON {
		_, _ = fmt.Fprintln(e.Stderr, "Next: carillon "+strings.Join(words, " "))
	}
}

// option formats a flag of a printed command, or returns "" if it has no value.
func option(name, value string) string {
	if value == "" {
		return ""
	}
	return " --" + name + " " + quote(value)
}

// quote quotes a word for a shell if necessary.
func quote(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c > '~' || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,", c)
	})
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// sameFlags returns the flags with which the next command reaches the same program.
func (s *server) sameFlags() string { return option("url", s.URL) + option("ready-file", s.ReadyFile) }

// sameFlags also repeats the company and the user, but not the password, which the next command asks for.
func (a *administered) sameFlags(by credentials) string {
	return option("in", a.In) + option("email", by.Email) + option("password-file", by.PasswordFile) + a.server.sameFlags()
}

// sameFlags also repeats the access key.
func (k *keyed) sameFlags() string {
	return option("key", k.Key) + option("key-file", k.KeyFile) + k.server.sameFlags()
}
