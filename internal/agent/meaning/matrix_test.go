package meaning

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func randomVector(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64()) * 3
	}
	return v
}

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum / norm(a) / norm(b)
}

func TestAStoredVectorKeepsItsDirection(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{8, 13, 384, 4096} {
		for range 20 {
			a, b := randomVector(r, n), randomVector(r, n)
			for i := range b { // from near to far
				b[i] = b[i]*float32(n%5) + a[i]
			}
			x, err := unpack(pack(a))
			y, other := unpack(pack(b))
			if err != nil || other != nil || math.Abs(x.similarity(y)-cosine(a, b)) > 0.01 {
				t.Errorf("%d dimensions: %f instead of %f", n, x.similarity(y), cosine(a, b))
			}
		}
	}
	if _, err := unpack([]byte{1, 2, 3}); !errors.Is(err, errDamaged) {
		t.Error(err)
	}
	v := make([]float32, 8)
	v[3] = math.MaxFloat32
	if x, err := unpack(pack(v)); err != nil || math.Abs(x.similarity(x)-1) > 0.001 {
		t.Error("the largest number", x.similarity(x), err)
	}
}

func matrixOf(r *rand.Rand, n, dimensions int) *matrix {
	m := &matrix{dimensions: dimensions}
	for i := range n {
		if err := m.add(i, fmt.Sprint(i), pack(randomVector(r, dimensions))); err != nil {
			panic(err)
		}
	}
	return m
}

func TestTheNearestRowsAreFound(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	m := matrixOf(r, 9000, 300) // more than one processor compares
	if err := m.add(1, "damaged", []byte{1}); err != nil || len(m.passages) != 9000 {
		t.Error("a row of other dimensions is kept", err)
	}
	row := 8123
	q := question{m.scales[row], m.parts[row*300 : (row+1)*300]}
	all := m.compare(q)
	found := best(all, 50)
	if len(found) != 50 || found[0] != row || math.Abs(float64(all[row])-1) > 0.02 {
		t.Errorf("%v, %f", found[:3], all[row])
	}
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	for i, row := range found {
		if all[row] != sorted[i] {
			t.Fatalf("place %d: %f instead of %f", i, all[row], sorted[i])
		}
	}
	var s spread
	s.add(all)
	if z := s.standout(float64(all[row])); z < 15 || z > 20 { // 1 over a deviation of 1/√300
		t.Errorf("it stands out by %f", z)
	}
	few := spread{}
	few.add([]float32{0.9, 0.1, 0.2})
	if z := few.standout(0.9); z != 0 {
		t.Errorf("among three: %f", z)
	}
	few.add([]float32{0.15})
	if z := few.standout(0.9); z < 10 {
		t.Errorf("among four: %f", z)
	}
}

func TestTheShelfHoldsWhatWasUsedLast(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	m := matrixOf(r, 10, 128)
	size := m.size()
	s := newShelf(4*size, 2*size)
	loads := 0
	get := func(company, base, vectors string) {
		t.Helper()
		got, err := s.get(t.Context(), company, base, vectors, func(context.Context) (*matrix, error) {
			loads++
			return m, nil
		})
		if err != nil || got != m {
			t.Fatal(err)
		}
	}
	is := func(want int) {
		t.Helper()
		if loads != want || s.used > s.most || s.by["a"] > s.company {
			t.Fatalf("%d loads, %d bytes", loads, s.used)
		}
	}
	get("a", "1", "x")
	get("a", "2", "x")
	get("a", "1", "x")
	is(2)
	get("a", "1", "y") // another state replaces it
	is(3)
	get("a", "3", "x") // in place of 2
	get("a", "1", "y")
	is(4)
	get("a", "2", "x")
	is(5)
	get("b", "1", "x")
	get("b", "2", "x")
	get("a", "2", "x")
	is(7)
	get("c", "1", "x") // in place of the one that was used longest ago
	get("a", "2", "x")
	is(8)
	large := matrixOf(r, 21, 128)
	got, err := s.get(t.Context(), "c", "2", "x", func(context.Context) (*matrix, error) { return large, nil })
	if got != large || err != nil {
		t.Error(err)
	}
	if s.used > s.most || s.all["c/2"] != nil {
		t.Error("vectors that exceed the share are kept")
	}
	failed := errors.New("gone")
	if _, err := s.get(t.Context(), "d", "1", "x", func(context.Context) (*matrix, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
	// A caller that gives up does not end the load.
	ctx, cancel := context.WithCancel(t.Context())
	begun, end := make(chan struct{}), make(chan struct{})
	go func() { <-begun; cancel() }()
	if _, err := s.get(ctx, "d", "1", "x", func(ctx context.Context) (*matrix, error) {
		close(begun)
		<-end
		return m, ctx.Err()
	}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(end)
	loads = 0
	get("d", "1", "x")
	is(0)
}

// BenchmarkCompare compares a question with 10,000 passages.
func BenchmarkCompare(b *testing.B) {
	for _, dimensions := range []int{384, 1536} {
		b.Run(fmt.Sprint(dimensions), func(b *testing.B) {
			r := rand.New(rand.NewPCG(7, 8))
			m := matrixOf(r, 10_000, dimensions)
			q, err := unpack(pack(randomVector(r, dimensions)))
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				best(m.compare(q), nearest)
			}
		})
	}
}
