// Package account is the room of rights: passwords, keys and roles (auth), sign-in by other servers (sso), mail, request rates
// (limit) and the record of calls of the interface (activity). Start reading in auth.
package account
