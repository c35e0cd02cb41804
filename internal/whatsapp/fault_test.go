package whatsapp

import (
	"testing"

	"carillon"
	"carillon/internal/whatsapp/graphtest"
)

func TestFaultsAreClassedByWhomTheyConcern(t *testing.T) {
	s, sender := graph(t, graphtest.Options{Templates: templates()})
	c := client(t, Options{})
	for _, tc := range []struct {
		code, status int
		want         carillon.Fault
	}{
		{190, 401, carillon.FaultAccount},
		{0, 401, carillon.FaultAccount},
		{10, 403, carillon.FaultAccount},
		{131042, 400, carillon.FaultAccount},
		{131048, 400, carillon.FaultThrottled},
		{130429, 400, carillon.FaultThrottled},
		{4, 400, carillon.FaultThrottled},
		{80007, 400, carillon.FaultThrottled},
		{999, 429, carillon.FaultThrottled},
		{2, 500, carillon.FaultProvider},
		{131000, 500, carillon.FaultProvider},
		{131016, 500, carillon.FaultProvider},
		{131057, 400, carillon.FaultProvider},
		{999, 500, carillon.FaultUnknown},
		{131056, 400, ""},
		{131026, 400, ""},
		{132015, 400, ""},
		{131053, 400, ""},
		{132069, 400, ""},
		{100, 400, ""},
	} {
		s.Fail(1, graphtest.Code(tc.status, tc.code))
		if got := c.Send(t.Context(), sender, kinds0()); got.Fault != tc.want {
			t.Errorf("code %d with %d is a fault of class %q, want %q", tc.code, tc.status, got.Fault, tc.want)
		}
	}
}
