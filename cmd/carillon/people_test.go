package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAPersonIsFoundExportedAndErased(t *testing.T) {
	t.Parallel()
	s := newStrict(t)
	s.answer("/functions/v1/people", `200 {"identities":["34600111222"],"contacts":[{"id":"c-1","name":"Ana","email":"",`+
		`"number":"34600111222","user_id":"","username":""}],`+
		`"conversations":2,"notifications":5,"calls":1}`)
	r := s.try(nil, "people", "find", "34600111222")
	r.want(t, 0, "identities     34600111222\n", "")
	r.want(t, 0, "notifications  5\n", "")
	r.want(t, 0, "contact        c-1  Ana  34600111222\n", "")
	file := filepath.Join(t.TempDir(), "ana.zip")
	s.answer("/functions/v1/people/export", `200 {"an":"archive"}`)
	s.try(nil, "people", "export", "34600111222", "-o", file).want(t, 0, file+"\n", "")
	if text, err := os.ReadFile(file); err != nil || string(text) != `{"an":"archive"}` {
		t.Errorf("%q %v", text, err)
	}
	s.try(nil, "people", "export", "34600111222", "-o", file).want(t, 1, "", "exist")
	s.try(nil, "people", "erase", "34600111222").want(t, 1, "", "--yes")
	s.try(nil, "people", "erase", "--yes").want(t, 1, "", "give a number, --user-id or --contact")
	s.answer("/functions/v1/people/erase", `200 {"hash":"3f1d","rows":{"turn":0,"contact":1}}`)
	s.try(nil, "people", "erase", "34600111222", "--yes").want(t, 0, "recorded as  3f1d\ncontact      1\n", "")
}
