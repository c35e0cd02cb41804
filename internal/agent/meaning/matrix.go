package meaning

import (
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
)

// A stored vector has length 1. It consists of a scale, which is a float32 in little-endian order, and a byte for each
// dimension: the component divided by the scale, rounded. That takes a quarter of the space of float32, and changes
// the similarity by less than a hundredth.
const scaleBytes = 4

const steps = 127 // from 0 to the largest component

// pack returns the stored form of a vector.
func pack(v []float32) []byte {
	largest := 0.0
	for _, x := range v {
		largest = max(largest, math.Abs(float64(x)))
	}
	packed := make([]byte, scaleBytes+len(v))
	binary.LittleEndian.PutUint32(packed, math.Float32bits(float32(largest/steps/norm(v))))
	for i, x := range v {
		packed[scaleBytes+i] = byte(int8(math.Round(float64(x) / largest * steps)))
	}
	return packed
}

var errDamaged = errors.New("a stored vector is damaged")

// question is the vector of a question.
type question struct {
	scale float32
	parts []int8
}

func (q question) size() int { return len(q.parts) + perQuestion }

const perQuestion = 300 // bytes of a cached question besides its vector

// unpack reads a stored vector.
func unpack(packed []byte) (q question, err error) {
	if len(packed) < scaleBytes+minDimensions {
		return q, errDamaged
	}
	q.scale = math.Float32frombits(binary.LittleEndian.Uint32(packed))
	q.parts = make([]int8, len(packed)-scaleBytes)
	for i, b := range packed[scaleBytes:] {
		q.parts[i] = int8(b)
	}
	return q, nil
}

// similarity returns the cosine of the angle between two vectors of the same dimensions.
func (q question) similarity(other question) float64 {
	return float64(q.scale) * float64(other.scale) * float64(dot(q.parts, other.parts))
}

// matrix holds the vectors of a base's passages.
type matrix struct {
	dimensions int
	parts      []int8
	scales     []float32
	passages   []int32
	hashes     []string
}

const perPassage = 72 // bytes of a row besides its components

func (m *matrix) size() int { return len(m.parts) + len(m.passages)*perPassage }

// add adds a row. Rows of other dimensions, left by a former model of the server, are skipped.
func (m *matrix) add(passage int, hash string, packed []byte) error {
	if len(packed) != scaleBytes+m.dimensions {
		return nil
	}
	q, err := unpack(packed)
	if err != nil {
		return err
	}
	m.parts = append(m.parts, q.parts...)
	m.scales = append(m.scales, q.scale)
	m.passages = append(m.passages, int32(passage)) // at most 50,000
	m.hashes = append(m.hashes, hash)
	return nil
}

// dot returns the inner product of two vectors of the same length.
func dot(a, b []int8) int32 {
	var s0, s1, s2, s3 int32
	b = b[:len(a)]
	i := 0
	for ; i+8 <= len(a); i += 8 {
		x, y := a[i:i+8:i+8], b[i:i+8:i+8]
		s0 += int32(x[0])*int32(y[0]) + int32(x[4])*int32(y[4])
		s1 += int32(x[1])*int32(y[1]) + int32(x[5])*int32(y[5])
		s2 += int32(x[2])*int32(y[2]) + int32(x[6])*int32(y[6])
		s3 += int32(x[3])*int32(y[3]) + int32(x[7])*int32(y[7])
	}
	for ; i < len(a); i++ {
		s0 += int32(a[i]) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}

const perPart = 2 << 20 // components that one processor compares before a second one helps

// compare returns the similarity of each row to a question.
func (m *matrix) compare(q question) []float32 {
	all := make([]float32, len(m.passages))
	some := func(from, to int) {
		for i := from; i < to; i++ {
			all[i] = q.scale * m.scales[i] * float32(dot(q.parts, m.parts[i*m.dimensions:(i+1)*m.dimensions]))
		}
	}
	parts := min(runtime.GOMAXPROCS(0), 1+len(m.parts)/perPart)
	var done sync.WaitGroup
	for i := 1; i < parts; i++ {
		done.Go(func() { some(i*len(all)/parts, (i+1)*len(all)/parts) })
	}
	some(0, len(all)/parts)
	done.Wait()
	return all
}

// spread is the distribution of similarities.
type spread struct{ n, sum, squares float64 }

func (s *spread) add(all []float32) {
	s.n += float64(len(all))
	for _, x := range all {
		s.sum += float64(x)
		s.squares += float64(x) * float64(x)
	}
}

const (
	minDeviation = 0.01 // of similarities
	minOthers    = 3
)

// standout returns the distance of a similarity from the mean of the others, in their standard deviations; 0 if there are too
// few others.
func (s *spread) standout(similarity float64) float64 {
	n := s.n - 1
	if n < minOthers {
		return 0
	}
	mean := (s.sum - similarity) / n
	deviation := math.Sqrt(max(0, (s.squares-similarity*similarity)/n-mean*mean))
	return (similarity - mean) / max(deviation, minDeviation)
}

// best returns the indexes of the largest similarities, the largest first.
func best(all []float32, most int) (rows []int) {
	for i, x := range all {
		if len(rows) == most && x <= all[rows[most-1]] {
			continue
		}
		at, _ := slices.BinarySearchFunc(rows, x, func(row int, x float32) int {
			if all[row] < x {
				return 1
			}
			return -1 // among equal ones the earlier stays first
		})
		rows = slices.Insert(rows, at, i)
		rows = rows[:min(len(rows), most)]
	}
	return rows
}
