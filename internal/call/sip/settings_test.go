package sip

import (
	"errors"
	"strings"
	"testing"

	"carillon"
)

func TestTrunksAreReadFromSettings(t *testing.T) {
	for raw, want := range map[string]Trunk{
		`{"trunk":"sip:127.0.0.1:5070;transport=udp","username":"carillon","password":"secret","caller_id":"15555550101"}`: {
			Host: "127.0.0.1:5070", Transport: "udp", Username: "carillon", Password: "secret", CallerID: "15555550101",
		},
		`{"trunk":"sip:a","agent":"3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11"}`: {
			Host: "a", Transport: "udp", Agent: "3e0f7a52-1d84-4b7c-8c39-5a2be6d41f11",
		},
		`{"trunk":"sip:a","username":"u","password":"p","realm":"Acme VoIP"}`: {
			Host: "a", Transport: "udp", Username: "u", Password: "p", Realm: "Acme VoIP",
		},
		`{"trunk":"sip:sip.example.com"}`: {Host: "sip.example.com", Transport: "udp"},
		`{"trunk":"sips:sip.example.com:5061","encrypt":"true","domain":"acme.test"}`: {
			Host:      "sip.example.com:5061",
			Transport: "tls", Encrypt: true, Domain: "acme.test",
		},
		`{"trunk":"sip:[::1]:5060;transport=TCP","encrypt":false}`: {Host: "[::1]:5060", Transport: "tcp"},
		`{"trunk":"sip:a","username":"u","password":"p","authenticate":"true"}`: {
			Host: "a", Transport: "udp", Username: "u", Password: "p", Authenticate: true,
		},
		`{"trunk":"sip:a","username":"u","password":"p","register":true}`: {
			Host: "a", Transport: "udp", Username: "u", Password: "p", Register: true,
		},
		`{"trunk":"sip:a","transfer":"bridge"}`: {Host: "a", Transport: "udp"},
		`{"trunk":"sip:a","transfer":"refer"}`:  {Host: "a", Transport: "udp", Refer: true},
		`{"trunk":"sip:a","public":"true"}`:     {Host: "a", Transport: "udp", Public: true, Claimed: true},
		`{"trunk":"sip:a","claimed":true}`:      {Host: "a", Transport: "udp", Claimed: true},
		`{"trunk":"sip:a","username":"1","password":"p","domain":"b","whatsapp":"main","register":true,"transfer":"refer"}`: {
			Host: "a", Transport: "tls", Username: "1", Password: "p", Domain: "b", Encrypt: true, Authenticate: true, WhatsApp: "main",
		},
	} {
		if got, err := TrunkOf([]byte(raw)); err != nil || got != want {
			t.Errorf("%s: %+v, %v", raw, got, err)
		}
	}
	for raw, field := range map[string]string{
		``: "settings.trunk", `[]`: "settings", `{"trunk":""}`: "settings.trunk", `{"trunk":"tel:1"}`: "settings.trunk",
		`{"trunk":"sip:a b"}`: "settings.trunk",
		`{"trunk":"sip:a:0"}`: "settings.trunk", `{"trunk":"sip:a:70000"}`: "settings.trunk",
		`{"trunk":"sip:a;transport=ws"}`:   "settings.trunk",
		`{"trunk":"sips:a;transport=udp"}`: "settings.trunk", `{"trunk":"sip:a","ports":"1"}`: "settings.ports",
		`{"trunk":"sip:a","encrypt":"maybe"}`:    "settings.encrypt",
		`{"trunk":"sip:a","password":"hunter2"}`: "settings.username", `{"trunk":"sip:a","authenticate":"true"}`: "settings.username",
		`{"trunk":"sip:a","username":"u","authenticate":true}`: "settings.password", `{"trunk":"sip:a","domain":"a:b"}`: "settings.domain",
		`{"trunk":"sip:a","register":"true"}`: "settings.username", `{"trunk":"sip:a","username":"u","register":true}`: "settings.password",
		`{"trunk":"sip:a","username":"u","password":"p","register":"soon"}`: "settings.register",
		`{"trunk":"sip:a","caller_id":"+1 555"}`:                            "settings.caller_id",
		`{"trunk":"sip:a","username":"a\r\nb"}`:                             "settings.username", `{"trunk":7}`: "settings.trunk",
		`{"trunk":"sip:a","transfer":"blind"}`: "settings.transfer",
		`{"trunk":"sip:a","realm":"a\nb"}`:     "settings.realm", `{"trunk":"sip:a","agent":"Robin"}`: "settings.agent",
		`{"trunk":"sips:a","username":"1","password":"p","whatsapp":"main"}`: "settings.domain",
		`{"trunk":"sips:a","domain":"b","whatsapp":"main"}`:                  "settings.password",
	} {
		_, err := TrunkOf([]byte(raw))
		var e *carillon.Error
		if !errors.As(err, &e) || e.Details.Find("field") != field || strings.Contains(e.Error(), "hunter2") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
