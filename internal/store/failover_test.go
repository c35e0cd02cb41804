package store_test

import (
	"net/url"
	"strings"
	"testing"

	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

// twice names a server twice in its address, the second time at a port where nothing is.
func twice(u *url.URL) {
	if u.Port() != "" {
		u.Host += "," + u.Hostname() + ":1"
		return
	}
	v := u.Query()
	v.Set("host", v.Get("host")+","+v.Get("host"))
	v.Set("port", "5432,1")
	u.RawQuery = v.Encode()
}

func TestDatabaseThatWouldNotSurviveAFailoverIsWarnedOf(t *testing.T) {
	address := storetest.Postgres(t)
	for _, c := range []struct {
		name, parameters string
		servers          int
		want             []string
	}{
		{"one server", "", 1, nil},
		{"two servers", "", 2, []string{"not replicated synchronously", "without target_session_attrs"}},
		{"two servers, the one that writes", "&target_session_attrs=read-write", 2, []string{"not replicated synchronously"}},
		{"commits that are not waited for", "&synchronous_commit=off", 1, []string{"synchronous_commit is off"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			if c.servers == 2 {
				twice(u)
			}
			u.RawQuery = strings.TrimPrefix(u.RawQuery+c.parameters, "&")
			s, err := store.Open(t.Context(), store.Options{DatabaseURL: u.String()})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			if s.Timeline() == 0 {
				t.Error("the server's timeline is not known")
			}
			got, err := s.FailoverWarnings(t.Context())
			if err != nil || len(got) != len(c.want) {
				t.Fatal(got, err)
			}
			for i, want := range c.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("warned %q, want %q", got[i], want)
				}
			}
		})
	}
}
