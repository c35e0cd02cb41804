// Package config reads and validates what an operator writes: the program's settings (one table of flags, environment
// variables, defaults and documentation) and the declarative set-up of companies, senders and templates. It opens no
// database and no connection. docs/reference/set-up.md describes the declarative form.
package config
