package telephone_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/internal/agent"
	"carillon/internal/agent/knowledge"
	"carillon/internal/base/config"
	"carillon/internal/base/identity"
	"carillon/internal/base/resource"
	"carillon/internal/call/sip"
	"carillon/internal/call/telephone"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
)

// onStores runs a test on a store of each engine.
func onStores(t *testing.T, test func(t *testing.T, s *store.Store)) {
	t.Helper()
	t.Parallel()
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			o := store.Options{Dir: storetest.Folder(t)}
			if engine == "postgres" {
				o = store.Options{DatabaseURL: storetest.PatientPostgres(t)}
			}
			s, err := store.Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			test(t, s)
		})
	}
}

const (
	alpha = "5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e01"
	beta  = "5f0c1d9e-2b7a-4c51-9f0e-3a2b1c0d9e02"
)

// options are for set-ups with lines and their agents.
var options = config.ProvisionOptions{
	CheckSettings: map[string]func(json.RawMessage) error{"sip": sip.CheckSettings}, Kinds: []resource.Kind{knowledge.Kind(), agent.Kind()},
}

func TestTheStartWarnsOfNumbersThatTwoCompaniesHave(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		line := func(id, name, number, trunk string) string {
			agent := "3e0f7a52-1d84-4b7c-8c39-5a2be6d41f" + id[len(id)-2:]
			return "  - id: " + id + "\n    name: " + name + "\n    agents: [{id: " + agent + ", name: Robin}]\n    senders:\n" +
				"      - {id: main, number: \"" + number + "\", channel: voice, provider: sip,\n" +
				"         settings: {trunk: \"sip:" + trunk + "\", agent: " + agent + "}}\n"
		}
		warned := func(setup string) string {
			t.Helper()
			name := filepath.Join(t.TempDir(), "setup.yaml")
			if err := os.WriteFile(name, []byte("companies:\n"+setup), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := config.ReadProvision([]string{name}, options)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Apply(t.Context(), p, nil); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			telephone.WarnOfNumbers(t.Context(), s, slog.New(slog.NewTextHandler(&log, nil)))
			return log.String()
		}
		const number = "15555550101"
		first := line(alpha, "Alpha", number, "trunk.example.com")
		for _, second := range []string{
			line(beta, "Beta", "15555550102", "trunk.example.com"), line(beta, "Beta", number, "trunk.example.org"),
		} {
			if log := warned(first + second); log != "" {
				t.Errorf("without a conflict: %s", log)
			}
		}
		log := warned(first + line(beta, "Beta", number, "Trunk.example.com:5070"))
		for _, want := range []string{alpha + "/main", beta + "/main", "carillon numbers assign"} {
			if !strings.Contains(log, want) {
				t.Errorf("no %s in %s", want, log)
			}
		}
		if strings.Contains(log, number) {
			t.Errorf("the number stands in the log: %s", log)
		}
		if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			return settings.AssignNumber(ctx, tx, number, beta, time.Now())
		}); err != nil {
			t.Fatal(err)
		}
		if log := warned(first); log != "" {
			t.Errorf("a number that was assigned: %s", log)
		}
	})
}

func TestAWishInACallHoldsAsFarAsItIsProved(t *testing.T) {
	onStores(t, func(t *testing.T, s *store.Store) {
		if err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			return accounts.PutCompany(ctx, tx, &carillon.Company{ID: alpha, Name: "Alpha"}, time.Now())
		}); err != nil {
			t.Fatal(err)
		}
		ask := telephone.Suppress(s)
		for _, x := range []struct {
			caller bool
			of     settings.SuppressionType
			why    string
		}{
			{true, settings.SuppressMarketing, settings.AskedByCaller},
			{false, settings.SuppressAll, "asked in a call"},
			{true, settings.SuppressAll, "asked in a call"},
		} {
			const number = "34600110077"
			if err := ask(t.Context(), alpha, number, x.caller); err != nil {
				t.Fatal(err)
			}
			for _, class := range []carillon.Class{carillon.Transactional, carillon.Utility, carillon.Marketing} {
				hit, err := s.Suppressions.Suppressed(t.Context(), alpha, class, identity.Numbers(number))
				if want := class == carillon.Marketing || x.of == settings.SuppressAll; hit[identity.Number(number)] != want || err != nil {
					t.Errorf("%+v: of %s: %v, %v", x, class, hit, err)
				}
			}
			if kept, err := s.Suppressions.Suppression(t.Context(), alpha, identity.Number(number)); err != nil ||
				kept.Type != x.of || kept.Reason != x.why {
				t.Errorf("%+v: %+v, %v", x, kept, err)
			}
		}
	})
}
