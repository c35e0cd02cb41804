// Package walks has people walk through the same flow and the same form of an agent in a chat, on WhatsApp, in a voice widget and on a
// call, and answer early, late, twice and into the question: what comes of it is the same. It has tests alone.
package walks
