package voice

import (
	"context"
	"os"
	"os/exec"
	"time"
)

// Program returns a command that speaks or transcribes. Its environment contains only the paths of programs, libraries
// and voices, and it ends with ctx.
func Program(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // callers choose the program and check the arguments
	cmd.WaitDelay = time.Second
	cmd.Env = []string{"LC_ALL=C.UTF-8", "HOME=/nonexistent"}
	for _, name := range []string{"PATH", "ESPEAK_DATA_PATH", "LD_LIBRARY_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return cmd
}
