package main

import (
	"maps"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestDensestCountsAnySecond(t *testing.T) {
	begin := time.Now()
	var all []arrival
	for _, ms := range []int{0, 500, 999, 1000, 1100, 1499, 2600} {
		all = append(all, arrival{at: begin.Add(time.Duration(ms) * time.Millisecond)})
	}
	if n := densest(all); n != 5 { // from 500 to 1499
		t.Errorf("%d in one second", n)
	}
}

// The output of a process must not be lost if it ends before the output is read.
func TestTheLastOutputOfAProcessIsRead(t *testing.T) {
	p, err := (&bench{}).start(exec.Command("/bin/sh", "-c", "echo done"))
	if err != nil {
		t.Fatal(err)
	}
	<-p.done
	if text, err := p.readLine(); text != "done" || err != nil {
		t.Errorf("read %q, %v", text, err)
	}
}

func TestFloorsAreJudgedWithTolerance(t *testing.T) {
	for _, c := range []struct {
		floor floor
		value float64
		want  string
	}{
		{floor{}, 1, ""},
		{minFloor(76), 76, "ok"},
		{minFloor(76), 70, "ok, within 10 %"},
		{minFloor(76), 60, "BELOW"},
		{maxFloor(50), 50, "ok"},
		{maxFloor(50), 54, "ok, within 10 %"},
		{maxFloor(50), 56, "BELOW"},
		{maxFloor(0), 0, "ok"},
		{maxFloor(0), 1, "BELOW"},
		{floor{limit: 80, set: true, exact: true}, 81, "BELOW"},
	} {
		if got := c.floor.verdict(c.value); got != c.want {
			t.Errorf("%v for %v: %q, want %q", c.value, c.floor, got, c.want)
		}
	}
}

func TestTheTableMarksARowBelowItsFloor(t *testing.T) {
	var tab table
	r := tab.add(row{figure: "Accept", unit: "requests/s", yardstick: "H", floor: minRatio(0.45)})
	for _, v := range []float64{300, 100, 200} {
		r.add(v, 1000)
	}
	tab.add(row{figure: "Not measured"})
	var b strings.Builder
	tab.markdown(&b)
	if want := "| Accept | requests/s | 200 | 100 | 300 | H 1000 | 0.20 | ≥ 0.45 | BELOW |\n"; !strings.HasSuffix(b.String(), "|\n"+want) {
		t.Errorf("got\n%s", b.String())
	}
}

func TestSamplesCountForTheInnermostPart(t *testing.T) {
	traces := "File: carillon\nType: cpu\n-----------+----\n" +
		"      10ms   runtime.mallocgc\n             net/textproto.readMIMEHeader\n             net/http.(*conn).serve\n-----------+----\n" +
		"      20ms   syscall.Syscall\n             internal/poll.(*FD).Write\n             net/http.(*persistConn).writeLoop\n" +
		"-----------+----\n" +
		"      30ms   runtime.memmove\n             carillon/internal/store/db.(*Bulk).Add (inline)\n             net/http.(*conn).serve\n" +
		"-----------+----\n      1.50s   runtime.futex\n             runtime.mcall\n"
	want := map[string]float64{
		"net/http": 0.01, "sockets": 0.02, "carillon: store/db": 0.03, "runtime: scheduler, timers, polling": 1.5,
	}
	if got := partsOf([]byte(traces)); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
