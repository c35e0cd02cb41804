package knowledge

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

// BenchmarkFind searches 10,000 articles of 150 words each, and reports the 99th percentile.
func BenchmarkFind(b *testing.B) {
	s, err := store.Open(b.Context(), store.Options{Dir: storetest.Folder(b)})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string { return fmt.Sprintf("w%d", int(5000*r.Float64()*r.Float64()*r.Float64())) } // some are frequent
	var names []string
	var bases []*Base
	for i := range 10 {
		base := &Base{ID: fmt.Sprintf("base%d", i)}
		for range 1000 {
			words := make([]string, 150)
			for j := range words {
				words[j] = word()
			}
			base.Articles = append(base.Articles, Article{Title: words[0] + " " + words[1], Text: strings.Join(words, " ") + "."})
		}
		names, bases = append(names, base.ID), append(bases, base)
	}
	begin := time.Now()
	company(b, s, "shop", bases...)
	b.Logf("stored in %v", time.Since(begin))
	search := searchIn(s)
	var took []time.Duration
	for b.Loop() {
		question := strings.Join([]string{word(), word(), word(), word(), word(), word()}, " ")
		begin := time.Now()
		if found, err := search.Find(b.Context(), Query{CompanyID: "shop", Knowledge: names, Text: question}); err != nil ||
			len(found) == 0 {
			b.Fatal(found, err)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
