package voice_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"carillon/internal/store/chats"
	"carillon/internal/voice"
)

// byBrowser runs a talk whose person's browser recognizes speech. echoFree means that it does not receive our words.
func byBrowser(t *testing.T, echoFree bool, test func(r *rig)) {
	t.Helper()
	talk(t, func(r *rig) { r.browser, r.deaf = voice.NewBrowser(echoFree), true }, func(r *rig) {
		r.session.Browser(voice.BrowserOn, "")
		r.wait(2 * time.Second) // the greeting
		test(r)
	})
}

// recognized passes on a hypothesis about the sound so far.
func (r *rig) recognized(utterance int64, text string, final bool) {
	r.session.Hypothesis(voice.Hypothesis{Utterance: utterance, Text: text, Final: final, At: r.at})
	synctest.Wait()
}

func (r *rig) heard(t *testing.T, want ...string) {
	t.Helper()
	if got := r.texts(voice.Transcribed); !slices.Equal(got, want) {
		t.Errorf("transcribed %q, want %q", got, want)
	}
}

// recorded returns the timing of the visitor's last turn.
func (r *rig) recorded() (v chats.Voice) {
	r.dialogue.mu.Lock()
	defer r.dialogue.mu.Unlock()
	if n := len(r.dialogue.voices); n > 0 && r.dialogue.voices[n-1] != nil {
		v = *r.dialogue.voices[n-1]
	}
	return v
}

// corrected returns the final texts that were recorded later.
func (r *rig) corrected() (all []string) {
	r.dialogue.mu.Lock()
	defer r.dialogue.mu.Unlock()
	for _, v := range r.dialogue.spoken {
		if v.Final != "" {
			all = append(all, v.Final+" by "+v.HeardBy)
		}
	}
	return all
}

func TestABrowserRecognizesSpeech(t *testing.T) {
	byBrowser(t, true, func(r *rig) {
		r.frames(1, 500*time.Millisecond)
		r.recognized(0, "when are", false)
		r.frames(1, 500*time.Millisecond)
		r.recognized(0, "when are you open", false)
		if got := r.texts(voice.Tentative); !slices.Equal(got, []string{"when are", "when are you open"}) {
			t.Errorf("tentative %q", got)
		}
		r.wait(580 * time.Millisecond)
		r.recognized(0, "When are you open?", true)
		r.wait(100 * time.Millisecond)
		r.heard(t, "When are you open?")
		if v := r.recorded(); v.HeardBy != "browser" || v.LengthMS < 1000 || v.TranscribeMS > 100 {
			t.Errorf("recorded %+v", v)
		}
		r.wait(4 * time.Second)
		if got := r.texts(voice.Responded); !strings.Contains(got[len(got)-1], "You said When are you open?") {
			t.Errorf("responded %q", got)
		}
	})
}

func TestTheLatestHypothesisCountsIfNoFinalOneComes(t *testing.T) {
	byBrowser(t, true, func(r *rig) {
		r.speaks(1, time.Second, 300*time.Millisecond)
		r.recognized(0, "when are you ope", false)
		r.wait(400 * time.Millisecond)
		r.heard(t)
		r.wait(900 * time.Millisecond)
		r.heard(t, "when are you ope")
		r.recognized(0, "when are you open", true)
		r.wait(100 * time.Millisecond)
		r.heard(t, "when are you ope") // the turn stays
		if got := r.corrected(); !slices.Equal(got, []string{"when are you open by browser"}) {
			t.Errorf("corrected %q", got)
		}
	})
	byBrowser(t, true, func(r *rig) {
		r.speaks(1, time.Second, 300*time.Millisecond)
		r.recognized(0, "when are you ope", false)
		r.wait(3500 * time.Millisecond)
		r.recognized(0, "when are you open", true)
		r.wait(100 * time.Millisecond)
		if got := r.corrected(); len(got) > 0 {
			t.Errorf("corrected too late: %q", got)
		}
	})
}

func TestAFinalTextFromBeforeTheLastWordsIsNotTheLast(t *testing.T) {
	byBrowser(t, true, func(r *rig) {
		r.frames(1, 800*time.Millisecond)
		r.wait(400 * time.Millisecond) // no end of the turn
		r.recognized(0, "I would like to know", true)
		r.speaks(1, 800*time.Millisecond, 700*time.Millisecond)
		r.heard(t)
		r.recognized(1, "when you open", true)
		r.wait(100 * time.Millisecond)
		r.heard(t, "I would like to know when you open")
	})
}

func TestWordsBelongToOneTurn(t *testing.T) {
	byBrowser(t, true, func(r *rig) {
		r.recognized(0, "noise from before", false)
		r.wait(time.Second)
		r.speaks(1, time.Second, 300*time.Millisecond)
		r.recognized(0, "noise from before first question", false)
		r.wait(1500 * time.Millisecond)
		r.heard(t, "first question")
		r.wait(6 * time.Second)
		r.speaks(1, time.Second, 300*time.Millisecond)
		r.recognized(0, "noise from before first question second one", true)
		r.wait(600 * time.Millisecond)
		r.heard(t, "first question", "second one")
		r.wait(6 * time.Second)
		r.recognized(1, "nobody spoke", true) // no speech was detected
		r.wait(2 * time.Second)
		r.heard(t, "first question", "second one")
	})
}

func TestWordsStayWithTheirTurnIfThePersonGoesOn(t *testing.T) {
	byBrowser(t, true, func(r *rig) {
		r.frames(1, time.Second)
		r.recognized(0, "the first part", false)
		r.wait(640 * time.Millisecond)    // a final text is awaited
		r.frames(1, 200*time.Millisecond) // meanwhile
		r.wait(300 * time.Millisecond)
		r.recognized(1, "and the second", true)
		r.wait(time.Second)
		r.heard(t, "the first part", "and the second")
	})
}

func TestMutingEndsTheTurn(t *testing.T) {
	byBrowser(t, true, func(r *rig) {
		r.frames(1, time.Second)
		r.recognized(0, "when are you open", false)
		r.session.Browser(voice.BrowserOff, "")
		synctest.Wait()
		r.heard(t, "when are you open")
	})
}

func TestOurOwnWordsAreNotThePersons(t *testing.T) {
	answer := func(r *rig, said string) {
		r.session.Type("a", "when are you open")
		r.wait(700 * time.Millisecond)
		r.frames(1, time.Second) // over our words
		r.recognized(0, said, true)
		r.wait(700 * time.Millisecond)
	}
	const ours = "you said when are you open and I answer"
	byBrowser(t, false, func(r *rig) {
		answer(r, ours)
		r.heard(t)
		r.wait(time.Second)
		if got := r.shown(voice.Corrected); len(got) > 0 {
			t.Errorf("corrected %+v", got)
		}
	})
	byBrowser(t, false, func(r *rig) {
		answer(r, "stop it I want something else")
		r.heard(t, "stop it I want something else")
	})
	byBrowser(t, true, func(r *rig) { // it does not hear ours
		answer(r, ours)
		r.heard(t, ours)
	})
	byBrowser(t, false, func(r *rig) { // said in the silence after it
		r.session.Type("a", "when are you open")
		r.wait(6 * time.Second)
		r.speaks(1, time.Second, 300*time.Millisecond)
		r.recognized(0, ours, true)
		r.wait(500 * time.Millisecond)
		r.heard(t, ours)
	})
}

func TestAFailingBrowserIsSaidOnce(t *testing.T) {
	byBrowser(t, true, func(r *rig) {
		r.frames(1, 500*time.Millisecond)
		r.session.Browser(voice.BrowserFailed, "network")
		r.wait(5 * time.Second)
		r.session.Browser(voice.BrowserFailed, "network")
		r.speaks(1, time.Second, 2*time.Second)
		got := r.texts(voice.Responded)
		if len(got) != 2 || !strings.Contains(got[1], "can't follow speech") {
			t.Fatalf("said %q", got)
		}
		r.heard(t)
		r.session.Type("a", "when are you open") // in writing it goes on
		r.wait(4 * time.Second)
		if got := r.texts(voice.Responded); len(got) != 3 {
			t.Errorf("said %q", got)
		}
	})
}

func TestSpeechIsIgnoredWhileTheBrowserIsNotReady(t *testing.T) {
	talk(t, func(r *rig) { r.browser, r.deaf = voice.NewBrowser(true), true }, func(r *rig) {
		r.wait(2 * time.Second)
		r.speaks(1, time.Second, 2*time.Second)
		r.session.Browser(voice.BrowserOn, "")
		r.session.Browser(voice.BrowserOff, "") // muted
		r.speaks(1, time.Second, 2*time.Second)
		if got := r.texts(voice.Responded); len(got) != 1 {
			t.Errorf("said %q", got)
		}
		r.heard(t)
	})
}

func TestAPageDetectsSpeech(t *testing.T) {
	byBrowser(t, true, func(r *rig) {
		r.session.Type("a", "when are you open")
		r.wait(700 * time.Millisecond)
		r.session.Detected(true, r.at)
		time.Sleep(250 * time.Millisecond)
		synctest.Wait()
		if n := len(r.shown(voice.Interrupted)); n != 1 {
			t.Errorf("%d interruptions", n)
		}
		time.Sleep(time.Second)
		r.at += 1250 * time.Millisecond
		r.recognized(0, "no the other shop", false)
		r.session.Detected(false, r.at)
		time.Sleep(300 * time.Millisecond) // a pause
		r.session.Detected(true, r.at+300*time.Millisecond)
		time.Sleep(300 * time.Millisecond)
		r.session.Detected(false, r.at+600*time.Millisecond)
		time.Sleep(500 * time.Millisecond)
		r.at += 1100 * time.Millisecond
		r.recognized(0, "no the other shop please", true)
		r.heard(t)
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		r.heard(t, "no the other shop please")
	})
}
