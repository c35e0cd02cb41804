package argon

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Options tune a child; the zero value works.
type Options struct {
	Idle     time.Duration // after which the process ends, to be started anew for the next hash; default 30 s
	Patience time.Duration // how long the process may take for a hash of 19 MiB and 2 passes; default 1 s
	Logger   *slog.Logger
	// Processors are the hashes that it computes at once; default GOMAXPROCS.
	Processors int
}

// Stats are counts since the start.
type Stats struct {
	Beside, Here int64 // hashes that the process computed, and that this one had to
	Deaths       int64 // processes that ended unasked
}

// Child computes in a process beside this one, which it starts for the first hash, ends when it is idle and replaces when
// it dies. Its methods are safe for concurrent use.
type Child struct {
	args []string
	o    Options
	own  chan struct{} // held by the one that computes in this process

	mu     sync.Mutex
	now    *process // nil: none runs
	closed bool
	vain   int       // processes in a row that never computed a hash
	after  time.Time // before which none is started
	ends   sync.WaitGroup

	beside, here, deaths atomic.Int64
}

// process is one life of the child. Child.mu guards it, but for writing.
type process struct {
	cmd   *exec.Cmd
	in    *os.File
	owed  map[uint64]*call
	last  uint64 // id given
	late  int    // calls owed for longer than patience
	good  bool   // it has computed a hash
	told  bool   // to end
	idle  *time.Timer
	write sync.Mutex
}

// call is a hash that the process owes.
type call struct {
	id   uint64
	sum  chan []byte // closed without a sum when the process has ended
	late bool
}

// NewChild gives a child that is this program with args; there, it must call Work. Close ends it.
func NewChild(args []string, o Options) *Child {
	if o.Idle <= 0 {
		o.Idle = 30 * time.Second
	}
	if o.Patience <= 0 {
		o.Patience = time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Processors <= 0 {
		o.Processors = runtime.GOMAXPROCS(0)
	}
	return &Child{args: args, o: o, own: make(chan struct{}, 1)}
}

// Stats tells what was computed where. A nil child has computed nothing.
func (c *Child) Stats() Stats {
	if c == nil {
		return Stats{}
	}
	return Stats{Beside: c.beside.Load(), Here: c.here.Load(), Deaths: c.deaths.Load()}
}

var (
	errDied = errors.New("the process died")
	errLate = errors.New("the process is late")
)

// Sum computes in the process; a process that dies is replaced once. On a machine that is busy for so long that the process
// gets no turn, and where none can be had, it computes here. ctx can end the wait before the hash is begun and not after:
// callers bound how much goes on by the calls they make.
func (c *Child) Sum(ctx context.Context, j Job) ([]byte, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	for range 2 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, owed := c.call(ctx)
		if p == nil {
			break
		}
		sum, err := c.ask(p, owed, &j)
		if err == nil {
			c.beside.Add(1)
			return sum, nil
		}
		if errors.Is(err, errLate) {
			break
		}
	}
	select {
	case c.own <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-c.own }()
	c.here.Add(1)
	return j.sum(), nil
}

// call notes that the process will owe a hash. There is none while one is late: it has enough to do.
func (c *Child) call(ctx context.Context) (*process, *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil && !c.start(ctx) || c.now.late > 0 {
		return nil, nil
	}
	p := c.now
	p.idle.Stop()
	p.last++
	owed := &call{id: p.last, sum: make(chan []byte, 1)}
	p.owed[owed.id] = owed
	return p, owed
}

// ask hands the job over and waits for the sum.
func (c *Child) ask(p *process, owed *call, j *Job) ([]byte, error) {
	patience := c.patience(j)
	frame := jobFrame(owed.id, j)
	p.write.Lock()
	err := p.in.SetWriteDeadline(time.Now().Add(patience))
	if err == nil {
		_, err = p.in.Write(frame)
	}
	p.write.Unlock()
	clear(frame)
	if err != nil {
		_ = p.cmd.Process.Kill() // half a frame is as bad as none
	}
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case sum, ok := <-owed.sum:
		return answerOf(sum, ok)
	case <-t.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case sum, ok := <-owed.sum: // it came meanwhile
		return answerOf(sum, ok)
	default:
		owed.late = true
		if p.late++; p.late == 1 {
			c.o.Logger.Warn("the process for password hashes gets no turn, this one computes them", "waited", patience)
		}
		return nil, errLate
	}
}

func answerOf(sum []byte, ok bool) ([]byte, error) {
	if !ok {
		return nil, errDied
	}
	return sum, nil
}

// patience grows with what the hash costs.
func (c *Child) patience(j *Job) time.Duration {
	const usual = 19 * 1024 * 2
	return c.o.Patience * time.Duration(max(usual, uint64(j.Memory)*uint64(j.Passes))) / usual
}

// start starts the process. The caller holds mu.
func (c *Child) start(ctx context.Context) bool {
	if c.closed || time.Now().Before(c.after) {
		return false
	}
	p, out, err := c.launch(ctx)
	if err != nil {
		c.inVain()
		c.o.Logger.Warn("cannot start the process for password hashes", "error", err)
		return false
	}
	c.now = p
	p.idle = time.AfterFunc(c.o.Idle, func() { c.retire(p) })
	c.ends.Go(func() { c.listen(p, out) })
	return true
}

// launch starts this program anew, with nothing of the environment but the number of processors.
func (c *Child) launch(ctx context.Context) (*process, *os.File, error) {
	path, err := self()
	if err != nil {
		return nil, nil, err
	}
	theirs, in, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer theirs.Close() //nolint:errcheck // the process has its own
	out, answers, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	defer answers.Close() //nolint:errcheck // the process has its own
	// It outlives the hash that it is started for.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), path, c.args...) //nolint:gosec // this program itself
	cmd.Args[0] = os.Args[0]
	cmd.Env = []string{"GOMAXPROCS=" + strconv.Itoa(c.o.Processors)}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, answers, os.Stderr
	apart(cmd)
	if err := cmd.Start(); err != nil {
		return nil, nil, errors.Join(err, in.Close(), out.Close())
	}
	return &process{cmd: cmd, in: in, owed: map[uint64]*call{}}, out, nil
}

// listen hands the sums out until the process ends.
func (c *Child) listen(p *process, out *os.File) {
	defer out.Close() //nolint:errcheck // it was read only
	var err error
	for r := bufio.NewReader(out); err == nil; {
		var id uint64
		var sum []byte
		if id, sum, err = readSum(r); err == nil {
			c.answer(p, id, sum)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	} else {
		_ = p.cmd.Process.Kill() // it says what nobody understands
	}
	err = errors.Join(err, p.cmd.Wait())
	c.mu.Lock()
	defer c.mu.Unlock()
	p.idle.Stop()
	_ = p.in.Close() // when it was told to end this was done before
	if c.now == p {
		c.now = nil
	}
	for _, owed := range p.owed {
		close(owed.sum)
	}
	if p.told {
		return
	}
	c.deaths.Add(1)
	if p.good {
		c.vain = 0
	} else {
		c.inVain()
	}
	c.o.Logger.Warn("the process for password hashes died", "error", err, "pid", p.cmd.Process.Pid, "owed", len(p.owed))
}

func (c *Child) answer(p *process, id uint64, sum []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	owed := p.owed[id]
	if owed == nil {
		return
	}
	owed.sum <- sum
	delete(p.owed, id)
	p.good = true
	if owed.late {
		p.late--
	}
	if len(p.owed) == 0 {
		p.idle.Reset(c.o.Idle)
	}
}

// inVain puts the next start off, the more so the more often a process came to nothing. The caller holds mu.
func (c *Child) inVain() {
	c.after = time.Now().Add(min(time.Second<<min(c.vain, 6), time.Minute))
	c.vain++
}

// retire ends a process that has nothing to do.
func (c *Child) retire(p *process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == p && len(p.owed) == 0 {
		c.end(p)
	}
}

// end tells the process to end. The caller holds mu.
func (c *Child) end(p *process) {
	p.told = true
	c.now = nil
	_ = p.in.Close() // it has ended, or does now
}

// Close ends the process; what it still owes is computed here. One that gets no turn to end in is not waited for.
func (c *Child) Close() {
	c.mu.Lock()
	c.closed = true
	if p := c.now; p != nil {
		c.end(p)
	}
	c.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		c.ends.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Second):
	}
}
