package provider_test

import (
	"testing"

	"carillon"
	"carillon/internal/base/provider"
)

func TestRefTravelsAndComesBack(t *testing.T) {
	const id = "0193f1c0-0000-7000-8000-000000000001"
	for _, r := range []provider.Ref{{id, 0, 0}, {id, 99, 3}, {id, 999_999_999, 999_999_999}} {
		s := r.String()
		if len(s) > 64 {
			t.Errorf("%s is too long", s)
		}
		if got, err := provider.ParseRef(s); err != nil || got != r {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{
		"", id, id + ".1", id + ".1.", id + "..1", id + ".1.1.1", id + ".01.1", id + ".-1.1", id + ".+1.1", id + ".1.1000000000",
		"x.1.1", "." + id + ".1.1", id + ".1.1 ",
	} {
		if got, err := provider.ParseRef(s); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestRefNamesItsMessage(t *testing.T) {
	const id = "0193f1c0-0000-7000-8000-000000000001"
	seq := carillon.SeqOf(id)
	for n, want := range map[int]carillon.MessageKey{0: seq.Message(0), 99: seq.Message(99), 999_999: seq.LastMessage()} {
		if k := (provider.Ref{NotificationID: id, N: n}).Key(); k != want {
			t.Errorf("a reference to message %d of %d has the key %d", n, seq, k)
		}
	}
}
