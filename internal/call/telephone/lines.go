package telephone

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"carillon"
	"carillon/internal/call/dial"
	"carillon/internal/call/handset"
	"carillon/internal/call/sip"
	"carillon/internal/store"
	"carillon/internal/store/settings"
)

// Suppress returns a function that suppresses a number at the request of a person in a call: all messages and calls if
// we called the number, only marketing if the person called us with it, since a caller ID proves nothing.
func Suppress(s *store.Store) func(ctx context.Context, companyID, number string, caller bool) error {
	return func(ctx context.Context, companyID, number string, caller bool) error {
		if caller {
			return s.Suppressions.Suppress(ctx, companyID, settings.SuppressMarketing, settings.AskedByCaller, time.Now(), number)
		}
		return s.Suppressions.Suppress(ctx, companyID, settings.SuppressAll, "asked in a call", time.Now(), number)
	}
}

// TrunksWith returns the trunks of lines. Calls of the sandbox's lines go to its phone.
func TrunksWith(phone *handset.Phone) Trunks {
	return func(line *carillon.Sender, c *dial.Call) (t sip.Trunk, header map[string]string, err error) {
		if line.Provider == "sandbox" {
			return sip.Trunk{Host: phone.Address(), Transport: "udp"}, map[string]string{
				handset.AttemptHeader: strconv.Itoa(c.Attempt), handset.CompanyHeader: line.CompanyID, handset.CallHeader: c.ID,
			}, nil
		}
		t, err = sip.TrunkOf(line.Settings)
		return t, nil, err
	}
}

// StoredLines lists the lines of all companies, read again when the configuration has changed.
func StoredLines(s *store.Store) func(context.Context) ([]sip.Line, error) {
	var all []sip.Line
	var read bool
	var generation uint64
	return func(ctx context.Context) ([]sip.Line, error) {
		now := s.Config.Generation()
		if read && now == generation {
			return all, nil
		}
		senders, err := s.Senders.SIPLines(ctx)
		if err != nil {
			return nil, err
		}
		all = nil
		for _, x := range senders {
			if trunk, err := sip.TrunkOf(x.Settings); err == nil { // otherwise no call is placed either
				all = append(all, sip.Line{
					Company: x.CompanyID, ID: x.ID, Number: x.Number, Shard: int(x.UID % carillon.Shards), Trunk: trunk,
				})
			}
		}
		read, generation = true, now
		return all, nil
	}
}

// WarnOfNumbers warns the operator of numbers that lines of several companies have on the same trunk.
func WarnOfNumbers(ctx context.Context, s *store.Store, log *slog.Logger) {
	all, err := s.Senders.SharedNumbers(ctx)
	for err == nil && len(all) > 0 {
		var lines []*carillon.Sender
		var names []string
		for len(all) > 0 && (len(lines) == 0 || all[0].Number == lines[0].Number) {
			lines, names, all = append(lines, all[0]), append(names, all[0].CompanyID+"/"+all[0].ID), all[1:]
		}
		var owner string
		if owner, err = s.Senders.NumberOwner(ctx, lines[0].Number); err == nil && owner == "" && Disputed(lines) {
			log.WarnContext(ctx, "several companies have a line with one number and trunk: calls to it are refused until "+
				"`carillon numbers assign` settles whose it is", "lines", names)
		}
	}
	if err != nil {
		log.WarnContext(ctx, "look for numbers that several companies have", "error", err)
	}
}
