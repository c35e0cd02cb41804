// Package config is everything an operator writes down: the settings of the program (one table: flag, environment
// variable, default, document) and the declarative set-up of companies, senders and templates. It reads and checks;
// it opens no database and no connection. The declarative form is that of decisions.md, section 9.
package config
