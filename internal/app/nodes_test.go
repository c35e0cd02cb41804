package app_test

import (
	"errors"
	"fmt"
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

func TestNodeWhoseClockIsAheadOfTheOthersIsNotReady(t *testing.T) {
	t.Parallel()
	address := storetest.PatientPostgres(t)
	for _, statement := range []string{ // the database's clock is an hour behind this node's
		"CREATE SCHEMA skewed",
		"CREATE FUNCTION skewed.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() - " +
			"interval '1 hour' $$",
	} {
		storetest.Exec(t, address, statement)
	}
	node := func(address string) *app.App {
		a, _ := demo(t, func(c *config.Config) {
			c.DatabaseURL, c.MasterKeyFile = config.Secret(address), storetest.MasterKey(t)
		})
		return a
	}
	ahead := node(with(t, address, "search_path", "public,skewed,pg_catalog"))
	app.Within(t, "it warns of its clock, alone", func() bool {
		checks, err := ahead.Ready(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(fmt.Sprint(checks), "warning: The clock of this node is ahead of the database's by 1h")
	})
	right := node(address)
	app.Within(t, "it is not ready beside another", func() bool {
		var refused *carillon.Error
		_, err := ahead.Ready(t.Context())
		return errors.As(err, &refused) && strings.Contains(fmt.Sprint(refused.Details), "is ahead of the other nodes'")
	})
	if _, err := right.Ready(t.Context()); err != nil {
		t.Error("the other node:", err)
	}
}
