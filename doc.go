// Package carillon is the vocabulary of all other packages: companies, senders, templates, messages, their states and
// reasons, the ids and numbers they are stored under, the error that a caller sees, and the arithmetic of phone numbers.
//
// It imports only the standard library and does no input or output.
//
// Requests are read by internal/send/request, schedules and time zones by internal/base/schedule, templates are compiled and filled by
// internal/base/content.
package carillon
