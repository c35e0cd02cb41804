package request

import (
	"encoding/json"
	"testing"

	"carillon"
	"carillon/internal/base/content"
)

// BenchmarkParseRequest measures reading and checking a typical body, for one recipient and for a hundred, and
// compares it with decoding the same body into a map with encoding/json.
func BenchmarkParseRequest(b *testing.B) {
	one := marshal(b, with(messagingBase(), object{"components_push": fullComponents()}))
	for name, body := range map[string][]byte{"one": one, "hundred": marshal(b, manyContacts())} {
		b.Run(name+"/carillon", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, err := Parse(carillon.Messaging, body, false, testNow); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/map", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				var m map[string]any
				if err := json.Unmarshal(body, &m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCheckAgainst measures the part of accepting a request that follows finding the template.
func BenchmarkCheckAgainst(b *testing.B) {
	tpl := compiled(b, &carillon.Template{Components: []carillon.Component{{Type: content.TypeBody, Text: "Hola {{1}}, {{2}}"}}})
	r := parsed(b, manyContacts())
	b.ReportAllocs()
	for b.Loop() {
		if err := r.CheckAgainst(tpl); err != nil {
			b.Fatal(err)
		}
		r.Duplicates(tpl)
	}
}
