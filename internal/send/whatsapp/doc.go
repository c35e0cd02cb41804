// Package whatsapp speaks the WhatsApp Business Cloud API: it sends template messages, submits templates to the channel's
// review, and verifies and parses the channel's callbacks.
//
// A message is posted at most once per call of Send. The client uses HTTP/1.1 with one message in flight on a
// connection, so that a broken connection leaves the outcome of one message unknown and not of a hundred. It follows no
// redirect, and net/http repeats a POST only where no byte of it was written.
//
//	no byte written                              retry_later
//	a byte written, no whole response            unknown
//	502, 504, or a response not the channel's    unknown
//	the channel's response with an id            sent
//	the channel's response with an error         by the table in rules.go
//
// The package keeps no state but parsed settings and open connections. Deciding when to send, retrying and storing are
// its callers' work.
package whatsapp
