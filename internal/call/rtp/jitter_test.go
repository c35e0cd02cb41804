package rtp

import "testing"

// A stream begins at a random sequence number (RFC 3550, section 5.1), so its numbers may wrap to zero at any time.
func TestSequenceNumbersWrapWithinAStream(t *testing.T) {
	t.Parallel()
	const frames, first = 40, 65_520
	j := newJitter()
	seq := uint16(first)
	for i := range frames {
		j.add(seq, []int16{int16(1000 + i)}) // loud: quiet frames may be skipped
		seq++
		if i < targetFrames-1 {
			continue
		}
		if got, want := j.take(), int16(1000+i-(targetFrames-1)); len(got) != 1 || got[0] != want {
			t.Fatalf("frame %d is %v, not %d", i, got, want)
		}
	}
	if j.lost+j.late != 0 {
		t.Errorf("%d frames count as lost, %d as late", j.lost, j.late)
	}
}
