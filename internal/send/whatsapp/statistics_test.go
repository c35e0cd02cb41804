package whatsapp

import (
	"testing"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"

	"github.com/google/go-cmp/cmp"
)

func TestStatisticsOfATemplate(t *testing.T) {
	known := template("offer", "en", content.Positional, carillon.Component{Type: "BODY", Text: "Hi"})
	g, s := graph(t, graphtest.Options{Templates: []carillon.Template{known}})
	known.ProviderID = g.TemplateID("offer", "en")
	c := client(t, Options{})
	today := time.Now().UTC().Truncate(day)
	ask := func(since time.Time) provider.TemplateStatistics {
		t.Helper()
		got, err := c.Statistics(t.Context(), s, &known, since)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := ask(today); got.Counts || got.Days != nil {
		t.Errorf("before it was turned on: %+v", got)
	}
	for range 2 {
		if err := c.CountByTemplate(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	g.ChangeAccount(func(a *graphtest.Account) {
		a.Statistics = []graphtest.Statistics{{TemplateID: "1", Day: today, Sent: 1000}}
		for ago := range 200 { // of which 90 are kept, on three pages
			a.Statistics = append(a.Statistics, graphtest.Statistics{
				TemplateID: known.ProviderID, Day: today.Add(-time.Duration(ago) * day), Sent: 4, Delivered: 3, Read: 2,
				Clicks: map[string]int{"Shop": 1, "Look": 2}, Spent: 0.5,
			})
		}
	})
	got := ask(today.AddDate(-1, 0, 0))
	first, last := got.Days[0], got.Days[len(got.Days)-1]
	if len(got.Days) != 90 || !first.Day.Equal(today.Add(-89*day)) || !last.Day.Equal(today) {
		t.Errorf("%d days from %s to %s", len(got.Days), first.Day, last.Day)
	}
	if want := (provider.StatisticsDay{Day: today, Sent: 4, Delivered: 3, Read: 2}); last != want {
		t.Errorf("%+v", last)
	}
	clicks := []provider.ButtonClicks{
		{Kind: "unique_url_button", Text: "Look", Count: 180}, {Kind: "unique_url_button", Text: "Shop", Count: 90},
	}
	if diff := cmp.Diff(clicks, got.Clicks); diff != "" || got.Spent != 45 || got.Currency != "EUR" {
		t.Errorf("%s %v %s", diff, got.Spent, got.Currency)
	}
	if got := ask(today.Add(-6 * day)); len(got.Days) != 7 {
		t.Errorf("%d days of a week", len(got.Days))
	}
}

// A template without buttons has no clicks, and older versions have a number instead of a list.
func TestDaysWithoutClicksOrCostsAreRead(t *testing.T) {
	for _, clicked := range []string{``, `"clicked":[],`, `"clicked":0,`, `"clicked":null,`} {
		var p statisticsPoint
		if err := decode([]byte(`{"start":1750000000,"sent":3,`+clicked+`"cost":[{"type":"amount_spent"}]}`), &p); err != nil {
			t.Errorf("%s: %v", clicked, err)
		}
		var all provider.TemplateStatistics
		p.addTo(&all)
		if len(all.Clicks) != 0 || all.Spent != 0 || len(all.Days) != 1 || all.Days[0].Sent != 3 {
			t.Errorf("%s: %+v", clicked, all)
		}
	}
}

func TestStatisticsNeedThePermission(t *testing.T) {
	g, s := graph(t, graphtest.Options{})
	g.ChangeAccount(func(a *graphtest.Account) { a.Lacks = "management" })
	x := template("offer", "en", content.Positional)
	x.ProviderID = "900000001"
	c := client(t, Options{})
	if _, err := c.Statistics(t.Context(), s, &x, time.Now()); !carillon.IsCode(err, carillon.UpstreamUnavailable) {
		t.Error(err)
	}
	if err := c.CountByTemplate(t.Context(), s); !carillon.IsCode(err, carillon.UpstreamUnavailable) {
		t.Error(err)
	}
	if g.Account().Counts {
		t.Error("it counts")
	}
}
