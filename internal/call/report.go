package call

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"carillon"
	"carillon/internal/base/provider"
	"carillon/internal/store/calls"
)

// Report records a call to a line for calls over WhatsApp that is only known from the channel's report of its end: it never
// reached this installation. A call that has a record keeps it.
func (x *Incoming) Report(ctx context.Context, s *carillon.Sender, r *provider.CallReport) error {
	all, err := x.store.Senders.Senders(ctx, s.CompanyID)
	i := slices.IndexFunc(all, func(l *carillon.Sender) bool { return provider.OverWhatsApp(l) == s.ID })
	if err != nil || i < 0 || !r.Ended || !r.Incoming {
		return err
	}
	c := &calls.IncomingCall{
		CompanyID: s.CompanyID, SenderUID: all[i].UID, Number: r.Number, State: carillon.StateFailed, EndedBy: "system",
		Detail: "only known from WhatsApp's report: the call did not reach this installation", RingingAt: r.At, EndedAt: r.At,
		Talk: calls.Talk{WACID: r.WACID},
	}
	if r.Answered {
		c.State, c.AnsweredAt, c.RingingAt = carillon.StateCompleted, r.Start, r.Start
	}
	if !r.End.IsZero() {
		c.EndedAt = r.End
	}
	c.ID = reportedID(cmp.Or(r.Start, r.At), s.CompanyID+"/"+r.WACID)
	return calls.NewOverWhatsApp(x.table).Report(ctx, c)
}

// reportedID returns the id of a reported call: a UUIDv7 that is the same for each repetition.
func reportedID(at time.Time, name string) string {
	sum := sha256.Sum256([]byte(name))
	ms := uint64(at.UnixMilli())
	random := binary.BigEndian.Uint64(sum[8:])&(1<<62-1) | 1<<63
	return fmt.Sprintf("%08x-%04x-7%03x-%04x-%012x", ms>>16&(1<<32-1), ms&(1<<16-1), binary.BigEndian.Uint16(sum[:])&(1<<12-1),
		random>>48, random&(1<<48-1))
}
