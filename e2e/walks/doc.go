// Package walks tests that the same flow and the same agent form have the same result in a chat, on WhatsApp, in a
// voice widget and on a call, with early, late, repeated and interrupting answers. It only contains tests.
package walks
