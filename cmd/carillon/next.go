package main

import (
	"fmt"
	"strings"
)

// next names the command that comes after the one that has run, for people who set up the program for the first time. Scripts,
// which read standard output or JSON, do not see it.
func (e *environment) next(asJSON bool, words ...string) {
	if !asJSON {
		_, _ = fmt.Fprintln(e.Stderr, "Next: carillon "+strings.Join(words, " "))
	}
}

// option is a flag of a printed command, empty without a value.
func option(name, value string) string {
	if value == "" {
		return ""
	}
	return " --" + name + " " + quote(value)
}

// quote quotes a word for a shell where it needs it.
func quote(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c > '~' || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,", c)
	})
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// again are the flags by which the next command reaches the same program.
func (s *server) again() string { return option("url", s.URL) + option("ready-file", s.ReadyFile) }

// again also repeats whose company it is, and who signs in, but for a password, which the next command asks for.
func (a *administered) again(by credentials) string {
	return option("in", a.In) + option("email", by.Email) + option("password-file", by.PasswordFile) + a.server.again()
}

// again also repeats the access key.
func (k *keyed) again() string {
	return option("key", k.Key) + option("key-file", k.KeyFile) + k.server.again()
}
