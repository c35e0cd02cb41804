// Package carillon is the vocabulary of all other packages: companies, senders, templates, messages, their states and
// reasons, their IDs and numbers, the error shown to callers, and phone number arithmetic.
//
// It imports only the standard library and does no input or output.
//
// internal/send/request reads requests, internal/base/schedule handles schedules and time zones, and
// internal/base/content compiles and fills templates.
package carillon
