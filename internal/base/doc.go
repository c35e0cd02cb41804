// Package base is the room of small packages that know none of the others: settings, HTTP, JSON, numbers, time, sound. Each is
// read by its own doc comment.
package base
