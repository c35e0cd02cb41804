package whatsapp

import (
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/base/content"
	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
)

func BenchmarkEncodeMessage(b *testing.B) {
	m := kinds0()
	shape, err := content.ShapeOf(m.Template)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := encodeMessage(m, shape); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSend(b *testing.B) {
	_, sender := graph(b, graphtest.Options{Loose: true})
	c := client(b, Options{})
	m := kinds0()
	if err := content.Compile(m.Template); err != nil {
		b.Fatal(err)
	}
	var n atomic.Int64
	b.SetParallelism(32)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			mine := *m
			mine.Ref.N = int(n.Add(1))
			if out := c.Send(b.Context(), sender, &mine); out.Verdict != provider.Sent {
				b.Errorf("%+v", out)
				return
			}
		}
	})
}

func BenchmarkParseCallback(b *testing.B) {
	s, _ := graph(b, graphtest.Options{})
	statuses := make([]graphtest.Status, 100)
	for i := range statuses {
		statuses[i] = graphtest.Status{
			Ref: notificationID + ".7.1", To: "34600111222", ID: "wamid.HBgLMzQ2MDAxMTEyMjI", State: "delivered", At: time.Now(),
		}
	}
	body := s.StatusBody(statuses...)
	b.ReportAllocs()
	for b.Loop() {
		if cb, err := ParseCallback(body, 7); err != nil || len(cb.Receipts) != 100 {
			b.Fatal(err, len(cb.Receipts))
		}
	}
}
