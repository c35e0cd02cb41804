package main

import "testing"

func TestSendersAreListedWithTheirBreakers(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	const answer = `200 {"data":[{"id":"main","number":"15555550100","channel":"messaging","provider":"whatsapp","default":true,` +
		`"breaker":{"state":"open","class":"account","detail":"190 access token expired","since":"2026-01-01T00:00:00Z",` +
		`"until":"2026-01-01T00:05:00Z"}},` +
		`{"id":"line","number":"15555550101","channel":"voice","provider":"sip","default":true,"breaker":{"state":"closed",` +
		`"class":null,"detail":null,"since":null,"until":null}}],"next_cursor":null}`
	s.answer("/panel/v1/senders", answer, answer)
	s.try(nil, "senders", "list").want(t, 0, "main  15555550100  messaging  whatsapp  open     account  2026-01-01T00:00:00Z  "+
		"2026-01-01T00:05:00Z  190 access token expired\n"+
		"line  15555550101  voice      sip       closed   -        -                     -                     \n", "")
	s.try(nil, "senders", "list", "--json").want(t, 0, `"state": "open"`, "")
}
