// Package carillon is the vocabulary of all other packages: companies, senders, templates, messages, their states and
// reasons, the ids and numbers they are stored under, the error that a caller sees, and the arithmetic of phone numbers,
// schedules and time zones.
//
// It imports only the standard library and does no input or output, except that ParseZone makes the standard library
// load the data of each time zone once.
//
// Requests are read by internal/request, templates are compiled and filled by internal/content.
package carillon
