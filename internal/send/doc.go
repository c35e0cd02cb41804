// Package send groups the packages for notifications: accepting and delivering them (notify), reading requests
// (request), templates (catalog), lists of recipients (bulk), and the channels (whatsapp, sandbox). Start reading in
// notify.
package send
