//go:build measure

package hook_test

import "testing"

func TestAMillionEventsWaitInNoMemory(t *testing.T) { backlog(t, 1_000_000) }
