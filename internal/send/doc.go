// Package send is the room of notifications: accepting and delivering them (notify), reading requests (request), templates (catalog), lists
// of people (bulk), and the channels (whatsapp, sandbox). Start reading in notify.
package send
