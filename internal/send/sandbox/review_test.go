package sandbox

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/base/provider"

	"github.com/google/go-cmp/cmp"
)

func template(name string) *carillon.Template {
	return &carillon.Template{Name: name, Language: "en", Category: "UTILITY", Status: carillon.TemplateDraft}
}

// submit submits a template and returns it as the catalog would store it.
func submit(t *testing.T, c *Channel, name string) *carillon.Template {
	t.Helper()
	x := template(name)
	id, status, err := c.Submit(t.Context(), line, x)
	if err != nil || status != carillon.TemplatePending || id == "" {
		t.Fatalf("submit: %q, %v, %v", id, status, err)
	}
	x.ProviderID, x.Status = id, status
	return x
}

func wantStatus(t *testing.T, c *Channel, x *carillon.Template, want carillon.TemplateStatus) {
	t.Helper()
	e, err := c.Status(t.Context(), line, x)
	if err != nil || e.Status != want || e.ProviderID != x.ProviderID || e.SenderUID != line.UID || e.Name != x.Name || e.Language != "en" {
		t.Errorf("status of %s: %+v, %v; want %s", x.Name, e, err, want)
	}
}

func TestReviewerDecidesByTheName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, d, stop := run(t, Options{})
		defer stop()
		good, bad, slow := submit(t, c, "hello"), submit(t, c, "hello_reject"), submit(t, c, "hello_slow")
		for _, x := range []*carillon.Template{good, bad, slow} {
			wantStatus(t, c, x, carillon.TemplatePending)
		}
		after(2*time.Second - 1)
		if len(d.snapshot().events) != 0 {
			t.Errorf("decided too early: %v", d.snapshot().events)
		}
		after(1)
		want := []provider.TemplateEvent{
			{
				SenderUID: 7, ProviderID: good.ProviderID, Name: "hello", Language: "en", Status: carillon.TemplateApproved,
				Category: "UTILITY",
			},
			{
				SenderUID: 7, ProviderID: bad.ProviderID, Name: "hello_reject", Language: "en", Status: carillon.TemplateRejected,
				Category: "UTILITY", Reason: rejectReason,
			},
		}
		if diff := cmp.Diff(want, d.snapshot().events); diff != "" {
			t.Error(diff)
		}
		after(time.Hour)
		wantStatus(t, c, good, carillon.TemplateApproved)
		wantStatus(t, c, bad, carillon.TemplateRejected)
		wantStatus(t, c, slow, carillon.TemplatePending)
	})
}

func TestReviewerDecidesOnCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, d, stop := run(t, Options{})
		defer stop()
		slow, quick := submit(t, c, "a_slow"), submit(t, c, "b")
		if err := c.Decide(t.Context(), line, slow, true, ""); err != nil {
			t.Fatal(err)
		}
		if err := c.Decide(t.Context(), line, quick, false, "not today"); err != nil {
			t.Fatal(err)
		}
		wantStatus(t, c, slow, carillon.TemplateApproved)
		after(time.Minute)
		wantStatus(t, c, quick, carillon.TemplateRejected) // the pending review did not override Decide
		if len(d.snapshot().events) != 2 || d.snapshot().events[1].Reason != "not today" {
			t.Errorf("reported %+v", d.snapshot().events)
		}
		if err := c.Decide(t.Context(), line, template("never_submitted"), true, ""); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("unknown template: %v", err)
		}
	})
}

func TestWithdrawnTemplatesAreNotDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, d, stop := run(t, Options{})
		defer stop()
		x := submit(t, c, "hello")
		for range 2 {
			if err := c.Withdraw(t.Context(), line, x); err != nil {
				t.Fatal(err)
			}
		}
		after(time.Minute)
		if len(d.snapshot().events) != 0 {
			t.Errorf("reported %+v", d.snapshot().events)
		}
		x.Status = carillon.TemplateDraft
		if _, err := c.Status(t.Context(), line, x); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("status: %v", err)
		}
	})
}

func TestResubmissionStartsTheReviewAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, d, stop := run(t, Options{})
		defer stop()
		first := submit(t, c, "hello")
		after(time.Second)
		if second := submit(t, c, "hello"); second.ProviderID != first.ProviderID {
			t.Errorf("ids %s and %s", first.ProviderID, second.ProviderID)
		}
		after(1500 * time.Millisecond)
		if len(d.snapshot().events) != 0 {
			t.Error("the first review counted")
		}
		after(time.Second)
		if len(d.snapshot().events) != 1 {
			t.Errorf("reported %+v", d.snapshot().events)
		}
	})
}

func TestReviewsOutliveTheProcess(t *testing.T) {
	for name, want := range map[string]carillon.TemplateStatus{
		"hello": carillon.TemplateApproved, "hello_reject": carillon.TemplateRejected, "hello_slow": carillon.TemplatePending,
	} {
		x := submit(t, New(Options{}), name)
		next := New(Options{})
		wantStatus(t, next, x, want)
		if err := next.Decide(t.Context(), line, x, true, ""); err != nil {
			t.Errorf("decide %s: %v", name, err)
		}
		x.ProviderID = "12345"
		if _, err := New(Options{}).Status(t.Context(), line, x); !carillon.IsCode(err, carillon.NotFound) {
			t.Errorf("a template that was never submitted here: %v", err)
		}
	}
}

func TestDecisionsAreToldAgainAfterAFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, d, stop := run(t, Options{})
		defer stop()
		d.setFail(errors.New("database is away"))
		submit(t, c, "hello")
		after(time.Minute)
		d.setFail(nil)
		after(10 * time.Second)
		if len(d.snapshot().events) != 1 || d.snapshot().events[0].Status != carillon.TemplateApproved {
			t.Errorf("reported %+v", d.snapshot().events)
		}
	})
}
