// Package whatsapp speaks the WhatsApp Business Cloud API: it sends template messages, carries templates through the
// channel's review, and verifies and parses the channel's callbacks.
//
// A request to send leaves at most once a call of Send. The client uses HTTP/1.1 with one message in flight on a
// connection, so that a broken connection makes the outcome of one message uncertain and not of a hundred; it counts
// the bytes that left, so that a fault before the first of them is told apart from one after it; it follows no
// redirect and gives net/http nothing to repeat a request with (engine.md, section 3).
//
//	no byte written                          retry_later
//	a byte written, no whole answer          unknown
//	502, 504, or an answer not the channel's unknown
//	the channel's answer with an id          sent
//	the channel's answer with an error       as the table in rules.go says
//
// The package keeps no state but parsed settings and open connections. Deciding when to send, retrying and storing are
// its callers' work.
package whatsapp
