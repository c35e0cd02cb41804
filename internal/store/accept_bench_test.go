package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"carillon"
	"carillon/internal/store"
	"carillon/internal/store/messages"
	"carillon/internal/store/storetest"
)

// The writer's cost per message, in batches of 16 requests with 100 recipients each, whose ids are slightly out of
// order.
func BenchmarkAccept(b *testing.B) {
	for name, options := range map[string]func() store.Options{
		"sqlite":   func() store.Options { return store.Options{Dir: storetest.Folder(b)} },
		"postgres": func() store.Options { return store.Options{DatabaseURL: storetest.PatientPostgres(b)} },
	} {
		b.Run(name, func(b *testing.B) {
			st, err := store.Open(b.Context(), options())
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = st.Close() }()
			rows := make([]messages.NewMessage, 100)
			for i := range rows {
				rows[i].Number = fmt.Sprint(34600111000 + i)
			}
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				now := time.Now()
				var all []*messages.Accept
				for range 16 {
					all = append(all, &messages.Accept{
						Notification: messages.Notification{
							ID: st.Notifications.NewID(now), CompanyID: "ours", Channel: carillon.Messaging, SenderUID: 70,
							Total: 100, Open: 100,
							CreatedAt: now, DueAt: now.Add(time.Hour), Body: "{}",
						},
						Messages: rows, Quota: messages.Quota{Day: "2027-01-15", Charge: 100},
					})
				}
				rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
				b.StartTimer()
				for _, err := range st.Notifications.Together(context.Background(), false, all...) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(1600*b.N), "ns/message")
		})
	}
}
