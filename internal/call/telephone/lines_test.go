package telephone_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"carillon"
	"carillon/internal/call/sip"
	"carillon/internal/call/telephone"
	"carillon/internal/store"
	"carillon/internal/store/accounts"
	"carillon/internal/store/configure"
	"carillon/internal/store/settings"
	"carillon/internal/store/storetest"
)

// Lines are requested every second, and read again only if the configuration has changed.
func TestTheLinesThatMayCallFollowTheConfiguration(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), store.Options{Dir: storetest.Folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	company, now := carillon.NewID(time.Now()), time.Now()
	put := func(id, trunk string) {
		t.Helper()
		err := s.Config.Change(t.Context(), func(ctx context.Context, tx *configure.Tx) error {
			if err := accounts.PutCompany(ctx, tx, &carillon.Company{ID: company, Name: "Acme"}, now); err != nil {
				return err
			}
			return settings.PutSender(ctx, tx, &carillon.Sender{
				CompanyID: company, ID: id, Number: "1555555010" + id, Channel: carillon.Voice, Provider: "sip", MediaCheck: "full",
				Settings: json.RawMessage(trunk),
			}, now)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	may := telephone.StoredLines(s)
	is := func(want ...sip.Line) {
		t.Helper()
		got, err := may(t.Context())
		slices.SortFunc(got, func(a, b sip.Line) int { return strings.Compare(a.ID, b.ID) })
		for i := range want {
			named, err := s.Senders.SendersNamed(t.Context(), company, want[i].ID)
			if err != nil || len(named) != 1 {
				t.Fatal(named, err)
			}
			want[i].Shard = named[0].Shard()
		}
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Error(err, d)
		}
	}
	is()
	put("1", `{"trunk":"sip:192.0.2.1"}`)
	one := sip.Line{Company: company, ID: "1", Number: "15555550101", Trunk: sip.Trunk{Host: "192.0.2.1", Transport: "udp"}}
	is(one)
	put("2", `{"trunk":"nonsense"}`) // places no calls either
	is(one)
	put("2", `{"trunk":"sips:sip.example.com"}`)
	two := sip.Line{Company: company, ID: "2", Number: "15555550102", Trunk: sip.Trunk{Host: "sip.example.com", Transport: "tls"}}
	is(one, two)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := may(ended); err != nil || len(got) != 2 {
		t.Errorf("without a change the database is asked: %v", err)
	}
}
