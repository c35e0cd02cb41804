package app_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"carillon"
	"carillon/internal/app"
	"carillon/internal/base/config"
	"carillon/internal/store/storetest"
)

// with returns a PostgreSQL address with another parameter.
func with(t *testing.T, address, name, value string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	v := u.Query()
	v.Set(name, value)
	u.RawQuery = v.Encode()
	return u.String()
}

func TestNodeWhoseClockIsWrongIsNotReady(t *testing.T) {
	t.Parallel()
	address := storetest.PatientPostgres(t)
	for _, statement := range []string{ // the database's clock is an hour ahead of this node's
		"CREATE SCHEMA skewed",
		"CREATE FUNCTION skewed.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() + " +
			"interval '1 hour' $$",
	} {
		storetest.Exec(t, address, statement)
	}
	a, _ := demo(t, func(c *config.Config) {
		c.DatabaseURL = config.Secret(with(t, address, "search_path", "public,skewed,pg_catalog"))
		c.MasterKeyFile = storetest.MasterKey(t)
	})
	app.Within(t, "it says that its clock is wrong", func() bool { // a busy database may not tell its time at once
		_, err := a.Ready(t.Context())
		e, ok := errors.AsType[*carillon.Error](err)
		if !ok || e.Code != carillon.ServiceUnavailable {
			t.Fatalf("it is ready, or not for the right reason: %v", err)
		}
		why, _ := e.Details[0].Value.(string)
		return strings.HasPrefix(why, "The clock of this node differs from the database's by ")
	})
}
