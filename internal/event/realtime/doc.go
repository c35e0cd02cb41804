// Package realtime streams events to screens. Events are rows of a company's topic, numbered when they are committed.
// The database is authoritative; everything else here may be lost.
//
//	commit ─▶ Hub.Publish ─▶ this node's subscribers of the topic
//	               └─▶ Bus: (topic, seq) over NOTIFY ─▶ other nodes' Hubs ─▶ their subscribers read the table
//
// A subscriber begins after the last seq it has seen. It reads all later events from the table and then follows the
// topic. At a gap in seq it reads the table again. Events without a seq (typing, presence) are not stored and stay on
// the node. A subscriber that reads too slowly is dropped; its client reconnects with its last seq.
//
// The Bus also carries other announcements between nodes, such as the queue's wake-ups.
package realtime
