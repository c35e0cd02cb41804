package meaning_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"carillon/internal/agent/meaning"
	"carillon/internal/agent/meaning/meaningtest"
	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

// answer responds with vectors, or other parts of a response, instead of the stand-in.
func answer(text string) func(w http.ResponseWriter, r *http.Request, inputs []string) bool {
	return func(w http.ResponseWriter, _ *http.Request, _ []string) bool {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(text))
		return true
	}
}

// vector is a JSON list of n numbers.
func vector(n int, number string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(number+",", n), ",") + "]"
}

func embeddings(all ...string) string {
	return `{"data":[{"embedding":` + strings.Join(all, `},{"embedding":`) + `}]}`
}

func status(code int, header ...string) func(w http.ResponseWriter, r *http.Request, inputs []string) bool {
	return func(w http.ResponseWriter, _ *http.Request, _ []string) bool {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		return true
	}
}

const dimensions = 384 // of the stand-in in a rig

// faults are ways in which a server fails, with the fault and a part of its detail.
var faults = map[string]struct {
	fail          func(w http.ResponseWriter, r *http.Request, inputs []string) bool
	fault, detail string
}{
	"an error":   {status(500), meaning.Status, "500"},
	"too many":   {status(429, "Retry-After", "100"), meaning.Limited, "429"},
	"no right":   {status(403), meaning.Refused, "403"},
	"a redirect": {status(307, "Location", "http://127.0.0.1:1/v1/embeddings"), meaning.Status, "307"},
	"no JSON":    {answer("<html>"), meaning.Invalid, "JSON"},
	"no vector":  {answer(`{"data":[]}`), meaning.Invalid, "0 vectors for 1 texts"},
	"two vectors": {
		answer(embeddings(vector(dimensions, "1"), vector(dimensions, "1"))), meaning.Invalid, "more than 1 vectors for 1 texts",
	},
	"another length":            {answer(embeddings(vector(dimensions-1, "1"))), meaning.Invalid, "383 dimensions instead of 384"},
	"few dimensions":            {answer(embeddings(vector(4, "1"))), meaning.Invalid, "4 dimensions"},
	"many dimensions":           {answer(embeddings(vector(5000, "1"))), meaning.Invalid, "5000 dimensions"},
	"NaN":                       {answer(embeddings(vector(dimensions, "NaN"))), meaning.Invalid, "numbers"},
	"a large number":            {answer(embeddings(vector(dimensions, "1e39"))), meaning.Invalid, "numbers"},
	"an infinite size":          {answer(embeddings(vector(dimensions, "0"))), meaning.Invalid, "direction"},
	"a wrong index":             {answer(`{"data":[{"index":1,"embedding":` + vector(dimensions, "1") + `}]}`), meaning.Invalid, "indexes"},
	"a huge response":           {answer(strings.Repeat(" ", 1<<20) + embeddings(vector(dimensions, "1"))), meaning.Invalid, "bytes"},
	"millions of empty vectors": {answer(`{"data":[` + strings.Repeat("{},", 60_000) + `{}]}`), meaning.Invalid, "more than 1"},
	"an endless one": {func(w http.ResponseWriter, r *http.Request, _ []string) bool {
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte(strings.Repeat(" ", 1<<16))); err != nil {
				break
			}
		}
		return true
	}, meaning.Invalid, "bytes"},
	"a broken one": {func(w http.ResponseWriter, _ *http.Request, _ []string) bool {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"data":[`))
		return true
	}, meaning.Unreachable, ""},
	"a closed connection": {
		func(http.ResponseWriter, *http.Request, []string) bool { panic(http.ErrAbortHandler) }, meaning.Unreachable, "",
	},
}

// failing makes the server fail.
func (r *rig) failing(fail func(w http.ResponseWriter, r *http.Request, inputs []string) bool) {
	r.server.Set(func(s *meaningtest.Server) { s.Fail = fail })
}

const (
	fails = "search by words alone: the embeddings server fails"
	works = "the embeddings server answers again"
)

// pausing searches while the server fails, during the pause that follows, and after the server has been repaired.
func (r *rig) pausing(now *time.Time, fault, detail string) {
	r.Helper()
	for i, question := range []string{"where is the doctor", "where is a doctor now"} {
		found, near := r.look("shop", question)
		if len(found) == 0 || found[0].Title != "Our doctors" || found[0].Similarity != 0 {
			r.Errorf("%d: %+v", i, found)
		}
		if near.Used || near.Fault != fault || !strings.Contains(near.Detail, detail) || near.Base != "faq" {
			r.Errorf("%d: %+v", i, near)
		}
	}
	if n := r.server.Requests(); n > 1 {
		r.Errorf("%d questions were sent to a server that fails", n)
	}
	if n := r.log.with(fails); n != 1 || r.log.with(fault) != 1 {
		r.Errorf("%d lines: %q", n, r.log.all)
	}
	if f, since, err := r.vectors.Failing(r.Context(), "shop", "faq"); err != nil || f == nil || f.Code != fault || !since.Equal(*now) {
		r.Errorf("%+v, %v, %v", f, since, err)
	}
	if f, _, err := r.vectors.Failing(r.Context(), "other", "faq"); err != nil || f != nil {
		r.Errorf("another company: %+v, %v", f, err)
	}
	if r.counts.count("sought "+fault) != 2 || r.counts.count("question "+fault) != 1 {
		r.Errorf("%v", r.counts.of)
	}
}

func TestAFailingServerIsNamedAndWordsAreUsed(t *testing.T) {
	t.Parallel()
	for name, x := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, store.Options{Dir: storetest.Folder(t)})
			now := time.Now()
			r.node("b", func(o *meaning.Options) {
				o.Limit = time.Minute
				o.Now = func() time.Time { return now }
			})
			r.put("shop", r.base(clinic...))
			now = time.Now()
			r.made("shop")
			r.server.Forget()
			r.failing(x.fail)
			r.pausing(&now, x.fault, x.detail)

			now = now.Add(time.Minute)
			if x.fault == meaning.Limited { // as long as the server wants
				if _, near := r.look("shop", "where may a dog be"); near.Fault != meaning.Limited || r.server.Requests() > 1 {
					t.Errorf("%+v", near)
				}
				now = now.Add(time.Minute)
			}
			r.failing(nil)
			for range 2 {
				found, near := r.look("shop", "where is the physician")
				if !near.Used || near.Fault != "" || found[0].Title != "Our doctors" {
					t.Errorf("%+v, %+v", found, near)
				}
			}
			if r.log.with(works) != 1 || r.log.with(fails) != 1 || r.server.Requests() != 2 {
				t.Errorf("%d requests, %q", r.server.Requests(), r.log.all)
			}
			if f, _, err := r.vectors.Failing(t.Context(), "shop", "faq"); f != nil || err != nil {
				t.Error(f, err)
			}
		})
	}
}

func TestASlowServerIsLeftAloneAfterTheLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	r.put("shop", r.base(clinic...))
	r.made("shop")
	now := time.Now()
	r.node("b", func(o *meaning.Options) {
		o.Limit = time.Millisecond
		o.Now = func() time.Time { return now }
	})
	r.server.Forget()
	left := make(chan struct{})
	r.failing(func(_ http.ResponseWriter, r *http.Request, _ []string) bool {
		<-r.Context().Done() // the client gives up
		close(left)
		return true
	})
	r.pausing(&now, meaning.Slow, "")
	if r.server.Requests() == 1 {
		<-left
	}
}

func TestAServerThatIsGoneIsNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	now := time.Now()
	r.put("shop", r.base(clinic...))
	r.made("shop")
	r.node("b", func(o *meaning.Options) {
		o.Limit = time.Minute
		o.Now = func() time.Time { return now }
	})
	r.server.Forget()
	r.http.Close()
	r.pausing(&now, meaning.Unreachable, "")
}

// Each pause after a failure is longer, up to a minute, and one question ends it.
func TestThePauseGrows(t *testing.T) {
	t.Parallel()
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	now := time.Now()
	r.put("shop", r.base(clinic...))
	r.made("shop")
	r.node("b", func(o *meaning.Options) {
		o.Limit = time.Minute
		o.Now = func() time.Time { return now }
	})
	r.server.Forget()
	r.failing(status(500))
	for i, pause := range []time.Duration{5, 10, 20, 40, 60, 60} {
		r.look("shop", "where is the doctor")
		if n := r.server.Requests(); n != i+1 {
			t.Fatalf("%d requests after %d pauses", n, i)
		}
		now = now.Add(pause*time.Second - time.Millisecond)
		r.look("shop", "where is the doctor")
		if n := r.server.Requests(); n != i+1 {
			t.Fatalf("%d requests within pause %d", n, i)
		}
		now = now.Add(time.Millisecond)
	}
	if n := r.log.with(fails); n != 1 {
		t.Errorf("%q", r.log.all)
	}
}

// A person who leaves says nothing about the server.
func TestAQuestionThatIsGivenUpIsNoFault(t *testing.T) {
	t.Parallel()
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	r.put("shop", r.base(clinic...))
	r.made("shop")
	r.node("b", func(o *meaning.Options) { o.Limit = time.Minute })
	ctx, cancel := context.WithCancel(t.Context())
	r.failing(func(_ http.ResponseWriter, r *http.Request, _ []string) bool {
		cancel()
		<-r.Context().Done()
		return true
	})
	if near := r.vectors.Nearest(ctx, "shop", []string{"faq"}, "where is the doctor"); near.Used || near.Fault != "" {
		t.Errorf("%+v", near)
	}
	if f, _, err := r.vectors.Failing(t.Context(), "shop", "faq"); f != nil || err != nil || r.log.with(fails) > 0 {
		t.Error(f, err)
	}
}

func TestTryNamesTheReason(t *testing.T) {
	t.Parallel()
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	e := r.base().Embeddings
	if n, _, err := r.vectors.Try(t.Context(), e); n != dimensions || err != nil {
		t.Error(n, err)
	}
	var f *meaning.Fault
	for name, x := range faults {
		if name == "another length" {
			continue // unknown before the first vector
		}
		r.failing(x.fail)
		_, _, err := r.vectors.Try(t.Context(), e)
		if !errors.As(err, &f) || f.Code != x.fault || !strings.Contains(f.Detail, x.detail) {
			t.Errorf("%s: %v", name, err)
		}
	}
	e.BaseURL = "http://10.1.2.3/v1"
	_, _, err := r.vectors.Try(t.Context(), e)
	if !errors.As(err, &f) || f.Code != meaning.Denied || strings.Contains(f.Error(), "10.1.2.3") {
		t.Error(err)
	}
}

// The key goes to the server alone, and to no log.
func TestTheKeyIsSentAndNotLogged(t *testing.T) {
	t.Parallel()
	r := newRig(t, store.Options{Dir: storetest.Folder(t)})
	const key = "sk-very-secret"
	r.server.Set(func(s *meaningtest.Server) { s.Key = key })
	b := r.base(clinic...)
	r.put("shop", b)
	var f *meaning.Fault
	if err := r.make("shop"); !errors.As(err, &f) || f.Code != meaning.Refused {
		t.Fatal(err)
	}
	b = r.base(clinic...)
	b.Embeddings.APIKey = key
	r.put("shop", b)
	r.made("shop")
	r.node("b", func(o *meaning.Options) { o.Limit = time.Minute })
	if _, near := r.look("shop", "where is the doctor"); !near.Used {
		t.Errorf("%+v", near)
	}
	r.failing(status(500))
	_, near := r.look("shop", "where is a doctor")
	text, _ := json.Marshal(near)
	if strings.Contains(string(text), key) || r.log.with(key) > 0 {
		t.Errorf("%s, %q", text, r.log.all)
	}
}
