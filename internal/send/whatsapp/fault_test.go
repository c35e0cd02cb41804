package whatsapp

import (
	"testing"

	"carillon/internal/base/provider"
	"carillon/internal/send/whatsapp/graphtest"
)

func TestFaultsAreClassedByWhomTheyConcern(t *testing.T) {
	s, sender := graph(t, graphtest.Options{Templates: templates()})
	c := client(t, Options{})
	for _, tc := range []struct {
		code, status int
		want         provider.Fault
	}{
		{190, 401, provider.FaultAccount},
		{0, 401, provider.FaultAccount},
		{10, 403, provider.FaultAccount},
		{131042, 400, provider.FaultAccount},
		{131048, 400, provider.FaultThrottled},
		{130429, 400, provider.FaultThrottled},
		{4, 400, provider.FaultThrottled},
		{80007, 400, provider.FaultThrottled},
		{999, 429, provider.FaultThrottled},
		{2, 500, provider.FaultProvider},
		{131000, 500, provider.FaultProvider},
		{131016, 500, provider.FaultProvider},
		{131057, 400, provider.FaultProvider},
		{999, 500, provider.FaultUnknown},
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
