package carillon

import (
	"strings"
	"testing"
	"time"
)

func TestNumbersKeepTheOrderOfIDsFarBackAndAhead(t *testing.T) {
	id, seq := "", NoSeq
	for year := 1995; year < 2060; year++ {
		at := time.Date(year, 6, 1, 0, 0, 0, 123, time.UTC)
		next := NewID(at)
		if next <= id || SeqOf(next) <= seq {
			t.Fatalf("%s, number %d, does not come after %s, number %d", next, SeqOf(next), id, seq)
		}
		if first := FirstSeq(at); SeqOf(next) < first || seq >= first {
			t.Fatalf("%d is not between %d and %d", first, seq, SeqOf(next))
		}
		id, seq = next, SeqOf(next)
		for _, n := range []int{0, 99} {
			if k := seq.Message(n); k.Seq() != seq || k.N() != n || k < seq.Message(0) || k > seq.LastMessage() {
				t.Errorf("message %d of %d has the key %d", n, seq, k)
			}
		}
	}
}

func TestANewIDHasItsNumber(t *testing.T) {
	someday := FirstSeq(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	for _, seq := range []Seq{0, 1, 0xffff, 0x10000, -1, someday | 0xabcd, seqSpan<<lowBits - 1} {
		id := seq.NewID()
		if SeqOf(id) != seq || !ValidUUID(id) || id == seq.NewID() {
			t.Errorf("%s of the number %d has the number %d", id, seq, SeqOf(id))
		}
		if cell := seq.Cell(); cell != int(seq>>12&0xf) {
			t.Errorf("%d is of cell %d", seq, cell)
		}
	}
}

func TestIDsOfOneMillisecondHaveNumbersOfIt(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	seen := map[Seq]bool{}
	for i := range 20 {
		seq := SeqOf(NewID(at.Add(time.Duration(i) * time.Millisecond / 20)))
		if seq < FirstSeq(at) || seq >= FirstSeq(at.Add(time.Millisecond)) {
			t.Fatalf("%d is not of its millisecond", seq)
		}
		seen[seq] = true
	}
	if len(seen) != 20 {
		t.Errorf("20 have %d numbers", len(seen))
	}
}

func TestWhatIsNoIDOfOursHasNoNumber(t *testing.T) {
	id := NewID(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	for _, s := range []string{
		"", "n", strings.ToUpper(id[:8]) + "A" + id[9:], id[:35], id + "0",
		id[:14] + "4" + id[15:], id[:19] + "c" + id[20:], id[:13] + "0" + id[14:], "0193F1C0-0000-7000-8000-000000000001",
	} {
		if seq := SeqOf(s); seq != NoSeq {
			t.Errorf("%q has the number %d", s, seq)
		}
	}
	if seq := SeqOf("ffffffff-ffff-7fff-bfff-ffffffffffff"); seq.Message(0) < 0 || seq.Message(0).Seq() != seq {
		t.Errorf("the last id there can be has the number %d", seq)
	}
	if seq := SeqOf("00000000-0000-7000-8000-000000000000"); seq != NoSeq {
		t.Errorf("the first id there can be has the number %d", seq)
	}
}
