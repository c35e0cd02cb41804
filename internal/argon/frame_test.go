package argon

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var cheap = Params{Memory: 64, Passes: 1, Threads: 1}

// job differs from every other n in its sum.
func job(n int, p Params) Job {
	return Job{Params: p, Secret: []byte(strings.Repeat("pw", n)), Salt: []byte("0123456789abcdef"), Size: 32}
}

func TestJobsAndSumsArriveAsTheyLeft(t *testing.T) {
	var b bytes.Buffer
	jobs := []Job{
		job(3, cheap),
		{Params: Params{MaxMemory, MaxPasses, 255}, Secret: bytes.Repeat([]byte("x"), MaxSecret), Salt: bytes.Repeat([]byte("y"), MaxSalt), Size: MaxSum},
		{Params: cheap, Secret: []byte{}, Salt: []byte{}, Size: 4},
	}
	for i := range jobs {
		b.Write(jobFrame(uint64(i)<<40, &jobs[i]))
	}
	for i := range jobs {
		id, j, err := readJob(&b)
		if diff := cmp.Diff(jobs[i], j); diff != "" || id != uint64(i)<<40 || err != nil {
			t.Errorf("job %d came as %d, %v (-want +got):\n%s", i, id, err, diff)
		}
	}
	if _, _, err := readJob(&b); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
	b.Write(sumFrame(1<<50, []byte("the sum")))
	if id, sum, err := readSum(&b); id != 1<<50 || string(sum) != "the sum" || err != nil {
		t.Errorf("the sum came as %d, %q, %v", id, sum, err)
	}
}

// badFrames are what no parent writes.
func badFrames() map[string][]byte {
	good := func(change func(*Job)) []byte {
		j := job(1, cheap)
		if change != nil {
			change(&j)
		}
		return jobFrame(1, &j)
	}
	salted := good(nil)
	salted[4+idSize+10] = 200
	return map[string][]byte{
		"a length without a body": good(nil)[:4],
		"half a length":           good(nil)[:2],
		"half a job":              good(nil)[:20],
		"shorter than a head":     sized(make([]byte, 4+headSize-1)),
		"longer than any job":     sized(make([]byte, 4+maxJob+1)),
		"the longest length":      {0xff, 0xff, 0xff, 0xff},
		"a salt past the end":     salted,
		"too much memory":         good(func(j *Job) { j.Memory = MaxMemory + 1 }),
		"no pass":                 good(func(j *Job) { j.Passes = 0 }),
		"too many passes":         good(func(j *Job) { j.Passes = MaxPasses + 1 }),
		"no thread":               good(func(j *Job) { j.Threads = 0 }),
		"no sum":                  good(func(j *Job) { j.Size = 0 }),
		"a sum too long":          good(func(j *Job) { j.Size = MaxSum + 1 }),
		"a salt too long":         good(func(j *Job) { j.Salt = make([]byte, MaxSalt+1) }),
		"a text":                  []byte("GET / HTTP/1.1\r\n\r\n"),
	}
}

func TestBadFramesEndServing(t *testing.T) {
	for name, frame := range badFrames() {
		err := Serve(bytes.NewReader(frame), io.Discard)
		if !errors.Is(err, errFrame) && !errors.Is(err, errJob) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Serve(bytes.NewReader(nil), io.Discard); err != nil {
		t.Errorf("nothing at all: %v", err)
	}
}

func FuzzReadJob(f *testing.F) {
	for _, frame := range badFrames() {
		f.Add(frame)
	}
	j := job(2, cheap)
	f.Add(jobFrame(7, &j))
	f.Fuzz(func(t *testing.T, frame []byte) {
		id, j, err := readJob(bytes.NewReader(frame))
		if err == nil && !bytes.HasPrefix(frame, jobFrame(id, &j)) {
			t.Errorf("read as %d %+v", id, j)
		}
	})
}

func TestServeAnswersEachJobWhenItIsDone(t *testing.T) {
	in, jobs := io.Pipe()
	sums, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Serve(in, out) }()
	slow, quick := job(1, Params{Memory: 64 << 10, Passes: 8, Threads: 1}), job(2, cheap)
	for id, j := range []*Job{&slow, &quick} {
		if _, err := jobs.Write(jobFrame(uint64(id), j)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []struct {
		id uint64
		j  Job
	}{{1, quick}, {0, slow}} {
		id, sum, err := readSum(sums)
		if err != nil || id != want.id || !bytes.Equal(sum, want.j.sum()) {
			t.Errorf("job %d was answered as %d, %v", want.id, id, err)
		}
	}
	if err := jobs.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestHereRefusesWhatIsBeyondTheBounds(t *testing.T) {
	j := job(1, cheap)
	if sum, err := (Here{}).Sum(t.Context(), j); err != nil || !bytes.Equal(sum, j.sum()) {
		t.Errorf("%x, %v", sum, err)
	}
	j.Passes = 0
	if _, err := (Here{}).Sum(t.Context(), j); !errors.Is(err, errJob) {
		t.Errorf("without a pass: %v", err)
	}
}
