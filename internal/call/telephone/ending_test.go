package telephone

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/call/sip"
)

// Responses of telephone companies, interpreted as in docs/reference/calls.md. internal/call/sip tests these statuses
// with another telephone implementation.
func TestEndingsOfCallsThatNobodyAnswered(t *testing.T) {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	code := func(n int) error { return fmt.Errorf("dial: %w", &sip.Refused{Code: n, Reason: "Because"}) }
	for _, c := range []struct {
		errs  []error
		ctx   context.Context
		state carillon.State
		about carillon.Reason
		by    string
		fault provider.Fault
	}{
		{[]error{code(486), code(600)}, t.Context(), carillon.StateBusy, "", "callee", ""},
		{[]error{code(408), code(480), code(487), sip.ErrUnanswered}, t.Context(), carillon.StateNoAnswer, "", "system", ""},
		{[]error{code(403), code(603), code(607), code(608)}, t.Context(), carillon.StateRejected, "", "callee", ""},
		{
			[]error{code(404), code(410), code(484), code(604)},
			t.Context(), carillon.StateFailed, carillon.ReasonUndeliverable,
			"system", "",
		},
		{
			[]error{code(500), code(502), code(503), code(504), code(580)},
			t.Context(), carillon.StateFailed, "", "system",
			provider.FaultProvider,
		},
		{[]error{code(401), code(407)}, t.Context(), carillon.StateFailed, "", "system", provider.FaultAccount},
		{[]error{sip.ErrUnreachable, errors.New("no port")}, t.Context(), carillon.StateFailed, "", "system", provider.FaultUnreachable},
		{
			[]error{code(400), code(402), code(415), code(488), code(606), sip.ErrSound},
			t.Context(), carillon.StateFailed,
			carillon.ReasonProviderRefused, "system", "",
		},
		{[]error{errors.Join(context.Canceled, sip.ErrUnanswered)}, canceled, carillon.StateCanceled, "", "system", ""},
	} {
		for _, err := range c.errs {
			e := endingOf(c.ctx, err)
			if e.State != c.state || e.Reason != c.about || e.EndedBy != c.by || e.Fault != c.fault || e.At.IsZero() || e.Detail == "" {
				t.Errorf("%v: %+v", err, e)
			}
			var refused *sip.Refused
			if errors.As(err, &refused) && e.Cause != fmt.Sprintf("%d Because", refused.Code) {
				t.Errorf("%v: cause %q", err, e.Cause)
			}
		}
	}
}
