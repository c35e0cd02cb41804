// Package config is everything an operator writes down: the settings of the program (one table: flag, environment
// variable, default, document) and the declarative set-up of companies, senders and templates. It reads and checks;
// it opens no database and no connection. docs/reference/set-up.md describes the declarative form.
package config
