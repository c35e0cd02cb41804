package agents

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"sync"

	"carillon"
	"carillon/internal/account/auth"
	"carillon/internal/agent"
	"carillon/internal/agent/trial"
	"carillon/internal/base/config"
	"carillon/internal/base/jsonbody"
	"carillon/internal/base/share"
	"carillon/internal/edge/httpio"
	"carillon/internal/edge/panel/form"
	"carillon/internal/edge/panel/member"
	"carillon/internal/store"
	"carillon/internal/store/resources"
)

// Tests runs the tests of an agent and shows the runs. The suites are resources; see Resources.
type Tests struct {
	Gate   *member.Gate
	Store  *store.Store
	Runner trial.Runner
	Share  *share.Share
}

const (
	maxTestBody  = 8 << 20 // a suite and a draft of a base
	maxAtOnce    = 100     // suites of one run
	sourceName   = "source"
	originPanel  = "panel"
	originDraft  = "draft"
	originRemote = "command"
)

func (x Tests) Routes() []httpio.Route {
	const all = "/agents/{id}/tests"
	run := x.Gate.Stream("POST", all+"/run", auth.MayWriteResources, x.run).Taking(runRequest{})
	check := member.Route(x.Gate, "POST", all+"/check", auth.MayWriteResources, x.check).Taking(checkRequest{})
	run.MaxBody, check.MaxBody = maxTestBody, maxTestBody
	return []httpio.Route{
		member.Route(x.Gate, "GET", all, auth.MayReadResources, x.list),
		member.Route(x.Gate, "GET", all+"/runs/{run}", auth.MayReadResources, x.show),
		check, run,
	}
}

// testSuite is a suite in a response.
type testSuite struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Cases  int    `json:"cases"`
	Source string `json:"source"`
}

// testRun is a run in a response.
type testRun struct {
	ID      string                        `json:"id"`
	BegunAt string                        `json:"begun_at"`
	Author  string                        `json:"author"`
	Origin  string                        `json:"origin" enum:"panel,draft,command"`
	Passed  int                           `json:"passed"`
	Failed  int                           `json:"failed"`
	Skipped int                           `json:"skipped"`
	MS      int64                         `json:"ms"`
	Cases   httpio.Encoded[[]trial.Short] `json:"cases"`
}

func runOf(r *resources.TestRun) testRun {
	return testRun{
		r.ID, carillon.FormatTime(r.BegunAt), r.Author, r.Origin, r.Passed, r.Failed, r.Skipped, r.Took.Milliseconds(),
		httpio.EncodedAs[[]trial.Short](r.Cases),
	}
}

type testsShown struct {
	Suites []testSuite `json:"suites"`
	Runs   []testRun   `json:"runs"`
}

// list responds with the suites of an agent and its last runs.
func (x Tests) list(r *http.Request, by member.Member) (testsShown, error) {
	a, err := agentOf(r, x.Store, by)
	if err != nil {
		return testsShown{}, err
	}
	suites, err := x.Runner.Suites(r.Context(), by.CompanyID, a.ID)
	if err != nil {
		return testsShown{}, err
	}
	runs, err := x.Store.TestRuns.List(r.Context(), by.CompanyID, a.ID)
	if err != nil {
		return testsShown{}, err
	}
	response := testsShown{[]testSuite{}, []testRun{}}
	for _, s := range suites {
		text, err := s.Text()
		if err != nil {
			return testsShown{}, err
		}
		response.Suites = append(response.Suites, testSuite{s.ID, s.Name, len(s.Cases), text})
	}
	for i := range runs {
		response.Runs = append(response.Runs, runOf(&runs[i]))
	}
	return response, nil
}

type runResults struct {
	testRun

	Results httpio.Encoded[[]trial.Result] `json:"results"`
}

// show responds with the results of a run.
func (x Tests) show(r *http.Request, by member.Member) (runResults, error) {
	a, err := agentOf(r, x.Store, by)
	if err != nil {
		return runResults{}, err
	}
	id := r.PathValue("run")
	if !carillon.ValidUUID(id) {
		return runResults{}, carillon.Absent("Run")
	}
	run, err := x.Store.TestRuns.Find(r.Context(), by.CompanyID, a.ID, id)
	if err != nil {
		return runResults{}, err
	}
	return runResults{runOf(run), httpio.EncodedAs[[]trial.Result](run.Doc)}, nil
}

// problem is a fault in a suite.
type problem struct {
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Text   string `json:"text"`
}

type suiteCheck struct {
	Cases    int       `json:"cases"`
	Problems []problem `json:"problems"`
}

// checkRequest asks for the faults of a suite.
type checkRequest struct {
	Source string `json:"source"`
}

// check responds with the faults in a suite.
func (x Tests) check(r *http.Request, by member.Member) (suiteCheck, error) {
	a, err := agentOf(r, x.Store, by)
	if err != nil {
		return suiteCheck{}, err
	}
	o, err := form.Body[checkRequest](r)
	if err != nil {
		return suiteCheck{}, err
	}
	text, err := o.Find(sourceName).Required(sourceName)
	if err != nil {
		return suiteCheck{}, err
	}
	s, problems := read(text, a)
	response := suiteCheck{0, []problem{}}
	for _, p := range problems {
		response.Problems = append(response.Problems, problem{p.At.Line, p.At.Column, p.Text})
	}
	if s != nil {
		response.Cases = len(s.Cases)
	}
	return response, nil
}

// read parses a suite of an agent.
func read(text string, a *agent.Agent) (*trial.Suite, config.Problems) {
	s, problems := trial.Read(sourceName, text, a.ID)
	if s != nil && !s.Owns(a) {
		return nil, config.Problems{{
			At: config.Position{File: sourceName, Line: 1, Column: 1}, Field: "agent", Text: "agent names another agent than " + a.Name,
		}}
	}
	return s, problems
}

// run responds with the results of the suites, as they come, and with the sum. Without a source it runs the stored
// suites. A draft of the agent or of one of its bases replaces the stored one during the run.
func (x Tests) run(w http.ResponseWriter, r *http.Request, by member.Member) error {
	order, base, err := x.order(r, by)
	if err != nil {
		return err
	}
	place, err := x.Share.Take(by.Holder())
	if err != nil {
		return err
	}
	defer place.Release()
	runner, end, err := x.Runner.With(r.Context(), order.CompanyID, order.Agent, base)
	if err != nil {
		return err
	}
	defer end()
	follows, err := httpio.Follow(r, by.Holder())
	if err != nil {
		return err
	}
	stream, err := httpio.OpenStream(w, r, follows)
	if err != nil {
		return err
	}
	defer stream.Close()
	ctx, cancel := context.WithCancel(r.Context())
	out := &results{ready: make(chan struct{}, 1), stream: stream}
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	work.Go(func() { out.follow(ctx, runner, *order) })
	if err := stream.Serve(out.ready, out.next); !errors.Is(err, errRunOver) {
		return err
	}
	return nil
}

// runRequest asks for a run of tests.
type runRequest struct {
	Source string          `json:"source,omitempty"`
	Agent  json.RawMessage `json:"agent,omitempty"`
	Base   json.RawMessage `json:"base,omitempty"`
	Origin string          `json:"origin,omitempty"`
}

// order reads the request to run tests.
func (x Tests) order(r *http.Request, by member.Member) (*trial.Order, *trial.Draft, error) {
	a, err := agentOf(r, x.Store, by)
	if err != nil {
		return nil, nil, err
	}
	o, err := form.Body[runRequest](r)
	if err != nil {
		return nil, nil, err
	}
	stored := a
	if a, err = unsaved(o, a); err != nil {
		return nil, nil, err
	}
	if a.Engine == "elevenlabs" {
		return nil, nil, carillon.InConflict("The agent talks elsewhere")
	}
	order := &trial.Order{CompanyID: by.CompanyID, Agent: a, Author: by.Name, Origin: originPanel}
	origin, _, err := o.String("origin", "origin")
	if err != nil {
		return nil, nil, err
	}
	switch origin {
	case "", originPanel:
	case originRemote:
		order.Origin = originRemote
	default:
		return nil, nil, carillon.Invalid("origin", "Must be panel or command")
	}
	base, err := draftOf(o)
	if err != nil {
		return nil, nil, err
	}
	if base != nil || a != stored {
		order.Origin = originDraft
	}
	order.Suites, err = x.suites(r.Context(), o, by, a)
	return order, base, err
}

// suites returns the suite in the body, or else the stored suites of the agent.
func (x Tests) suites(ctx context.Context, o *jsonbody.Object, by member.Member, a *agent.Agent) ([]*trial.Suite, error) {
	text, given, err := o.String(sourceName, sourceName)
	if err != nil {
		return nil, err
	}
	if given {
		s, problems := read(text, a)
		if len(problems) > 0 {
			return nil, carillon.Invalid(sourceName, "Line "+strconv.Itoa(problems[0].At.Line)+": "+problems[0].Text)
		}
		return []*trial.Suite{s}, nil
	}
	all, err := x.Runner.Suites(ctx, by.CompanyID, a.ID)
	switch {
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, carillon.InConflict("The agent has no tests")
	case len(all) > maxAtOnce:
		return nil, carillon.InConflict("The agent has more than " + strconv.Itoa(maxAtOnce) + " suites of tests")
	}
	return all, nil
}

// draftOf returns the draft of a base in the body, or nil.
func draftOf(o *jsonbody.Object) (*trial.Draft, error) {
	given, present, err := o.Find("base").Object("base")
	if err != nil || !present {
		return nil, err
	}
	return trial.ReadDraft(given)
}

// errRunOver ends the stream of a run.
var errRunOver = errors.New("the run is over")

// results passes the results of a run on to its stream.
type results struct {
	ready  chan struct{}
	stream *httpio.Stream

	mu      sync.Mutex
	waiting []httpio.Event
	over    bool
}

// follow runs the tests.
func (x *results) follow(ctx context.Context, runner trial.Runner, order trial.Order) {
	total := 0
	for _, s := range order.Suites {
		total += len(s.Cases)
	}
	x.add("begin", map[string]int{"cases": total}, false)
	done, err := runner.Run(ctx, order, func(r *trial.Result) error {
		x.add("result", r, false)
		return ctx.Err()
	})
	if err != nil {
		message := "The run failed"
		if e, ok := errors.AsType[*carillon.Error](err); ok {
			message = e.Error()
		}
		x.add("failed", map[string]string{"message": message}, true)
		return
	}
	x.add("done", done, true)
}

func (x *results) add(name string, value any, last bool) {
	data, err := json.Marshal(value)
	x.mu.Lock()
	if err == nil {
		x.waiting = append(x.waiting, httpio.Event{Name: name, Data: data})
	}
	x.over = x.over || last
	x.mu.Unlock()
	select {
	case x.ready <- struct{}{}:
	default:
	}
}

// next returns the results since its last call. After the last one it returns errRunOver.
func (x *results) next(context.Context) ([]httpio.Event, error) {
	x.mu.Lock()
	events, over := x.waiting, x.over
	x.waiting = nil
	x.mu.Unlock()
	if !over {
		return events, nil
	}
	if err := x.stream.Send(events...); err != nil {
		return nil, err
	}
	return nil, errRunOver
}
