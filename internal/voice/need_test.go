package voice_test

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"carillon/internal/voice"
)

// scripted is a turn of testdata/turns.txt: the pieces between the places where the person may hesitate.
type scripted struct {
	voice.Turn
	pieces []string
}

// said returns the words before the pause after a piece.
func (s *scripted) said(piece int) string { return strings.Join(s.pieces[:piece+1], " ") }

func script(t testing.TB) (all []scripted) {
	t.Helper()
	f, err := os.Open("testdata/turns.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		fields := strings.SplitN(lines.Text(), " ", 3)
		if len(fields) != 3 {
			t.Fatalf("a turn %q", lines.Text())
		}
		kind, number, _ := strings.Cut(fields[1], ":")
		digits, _ := strconv.Atoi(number) // none: unknown
		all = append(all, scripted{voice.NewTurn(fields[0], kind, digits), strings.Split(fields[2], " / ")})
	}
	return all
}

// pausing is the share of turns whose longest pause exceeds a length, as published for conversations by telephone.
var pausing = []struct{ length, share float64 }{ //nolint:gochecknoglobals // read only
	{100, 1}, {300, 0.556}, {600, 0.217}, {1000, 0.1}, {1600, 0.05}, {2500, 0},
}

// longest draws the longest pause of a turn. Only marked turns have one; together all turns have the published shares.
func longest(random *rand.Rand, marked float64) time.Duration {
	share := random.Float64() * marked
	for i := 1; i < len(pausing); i++ {
		if a, b := pausing[i-1], pausing[i]; share >= b.share {
			along := (a.share - share) / (a.share - b.share)
			return time.Duration(a.length*math.Pow(b.length/a.length, along)) * time.Millisecond
		}
	}
	return 0
}

// drawn is one performance of a turn: its pauses, in order.
type drawn struct {
	*scripted
	pauses []time.Duration
}

const draws = 60

func perform(all []scripted, seed uint64) (out []drawn) {
	random := rand.New(rand.NewPCG(seed, 42))
	marked := 0.0
	for _, s := range all {
		if len(s.pieces) > 1 {
			marked++
		}
	}
	marked /= float64(len(all))
	for i := range all {
		for range draws {
			d := drawn{scripted: &all[i]}
			if n := len(all[i].pieces) - 1; n > 0 {
				// the shares of the marked turns, so that all turns have the published ones
				most := longest(random, marked)
				for range n {
					d.pauses = append(d.pauses, time.Duration(float64(most)*random.Float64()))
				}
				d.pauses[random.IntN(n)] = most
			}
			out = append(out, d)
		}
	}
	return out
}

// figures are the errors and the delay of a rule.
type figures struct {
	wrong  float64 // share of turns cut off at a pause
	mean   time.Duration
	median time.Duration
}

func (f figures) String() string {
	return fmt.Sprintf("%4.1f %% cut off, mean %v, median %v", 100*f.wrong, f.mean.Round(time.Millisecond),
		f.median.Round(time.Millisecond))
}

func measure(all []drawn, rule func(s *scripted, text string) time.Duration) figures {
	var f figures
	delays := make([]time.Duration, 0, len(all))
	for _, d := range all {
		for i, p := range d.pauses {
			if p > rule(d.scripted, d.said(i)) {
				f.wrong++
				break
			}
		}
		end := rule(d.scripted, d.said(len(d.pieces)-1))
		f.mean += end
		delays = append(delays, end)
	}
	slices.SortFunc(delays, cmp.Compare[time.Duration])
	f.wrong /= float64(len(all))
	f.mean /= time.Duration(len(all))
	f.median = delays[len(delays)/2]
	return f
}

func fixed(d time.Duration) func(*scripted, string) time.Duration {
	return func(*scripted, string) time.Duration { return d }
}

func byWords(scale float64) func(*scripted, string) time.Duration {
	return func(s *scripted, text string) time.Duration { return time.Duration(float64(s.Need(text)) * scale) }
}

// at returns the figures at the scale for which a share of the turns is cut off.
func at(all []drawn, wrong float64, rule func(scale float64) func(*scripted, string) time.Duration) figures {
	low, high := 0.1, 8.0
	for range 12 {
		if middle := (low + high) / 2; measure(all, rule(middle)).wrong > wrong {
			low = middle
		} else {
			high = middle
		}
	}
	return measure(all, rule(high))
}

func TestTurnsAreCutOffLessThanByAFixedSilence(t *testing.T) {
	var halves [2][]scripted
	for i, s := range script(t) {
		halves[i%2] = append(halves[i%2], s)
	}
	fixedBy := func(scale float64) func(*scripted, string) time.Duration {
		return fixed(time.Duration(scale * float64(600*time.Millisecond)))
	}
	for i, name := range []string{"tuned", "held out"} {
		all := perform(halves[i], uint64(i)+1)
		f300, f600, words := measure(all, fixed(300*time.Millisecond)), measure(all, fixed(600*time.Millisecond)), measure(all, byWords(1))
		t.Logf("%s: %d turns\n fixed 300: %v\n fixed 600: %v\n by words:  %v", name, len(halves[i]), f300, f600, words)
		for _, wrong := range []float64{0.05, 0.1, 0.12, 0.2} {
			t.Logf("%s: at %2.0f %%: fixed %v; by words %v", name, 100*wrong, at(all, wrong, fixedBy).mean, at(all, wrong, byWords))
		}
		if f600.wrong < 0.18 || f600.wrong > 0.25 {
			t.Errorf("%s: the pauses are not the published ones: %v", name, f600)
		}
		if words.wrong > 0.15 || i == 1 && words.wrong > 0.12 || words.mean > 650*time.Millisecond {
			t.Errorf("%s: %v, by a fixed silence %v", name, words, f600)
		}
	}
}

func TestTheSilenceThatEndsATurn(t *testing.T) {
	const short, sentence, word, dictated, open = 300, 600, 1000, 1600, 1800
	for _, c := range []struct {
		language, kind string
		digits         int
		text           string
		want           time.Duration
	}{
		{"en", "choice", 0, "Yes, please.", short},
		{"en", "choice", 0, "I would rather come in the evening.", sentence},
		{"en", "free", 0, "When are you open?", sentence},
		{"en", "free", 0, "Thanks.", short},
		{"en", "free", 0, "I'd like to book a table for", open},
		{"en", "free", 0, "I think, um", open},
		{"en", "free", 0, "Which one is it for?", sentence},
		{"en", "word", 0, "Maria", word},
		{"en", "number", 9, "six zero zero", dictated},
		{"en", "number", 9, "600 111 222", short},
		{"en", "number", 0, "twenty", sentence},
		{"en", "number", 0, "600 111", dictated},
		{"en", "free", 0, "it is four five six", dictated},
		{"en", "email", 0, "maria dot lopez", dictated},
		{"en", "email", 0, "maria dot lopez at example dot com", sentence},
		{"en", "email", 0, "maria@example.com", sentence},
		{"es-MX", "choice", 0, "Sí", short},
		{"es", "free", 0, "Quiero cambiar mi cita porque", open},
		{"es", "free", 0, "¿A qué hora abren?", sentence},
		{"pt-BR", "free", 0, "Eu queria falar com a", open},
		{"pt-BR", "choice", 0, "Não", short},
		{"pt-BR", "email", 0, "ana arroba exemplo ponto com", sentence},
		{"ja", "free", 0, "はい", 600},
		{"en", "free", 0, "", 600},
	} {
		if got := voice.NewTurn(c.language, c.kind, c.digits).Need(c.text); got != c.want*time.Millisecond {
			t.Errorf("%s %s %d %q: %v, not %v", c.language, c.kind, c.digits, c.text, got, c.want*time.Millisecond)
		}
	}
}
