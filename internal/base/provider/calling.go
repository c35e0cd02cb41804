package provider

import "time"

// CallSettings are the settings of a number for calls at a channel.
type CallSettings struct {
	On       bool
	Hostname string // of our server, to which the channel places its calls
	Port     int
	Password string // of the number, made by the channel; only read, never written
}

// CallPermission is a person's permission to be called by a company, with the channel's present limits.
type CallPermission struct {
	Given bool
	Until time.Time // zero: permanent, or not given
	// MayCall and MayAsk are the channel's answer whether a call, or a request for the permission, is allowed now. CallAt and
	// AskAt are when they are allowed again; zero if unknown.
	MayCall, MayAsk bool
	CallAt, AskAt   time.Time
}
