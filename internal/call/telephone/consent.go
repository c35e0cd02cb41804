package telephone

import "context"

// notice returns the words that announce the recording, and how to refuse it.
func (p *placed) notice(w words) string {
	if p.o.Voices.Transcriber(p.agent.Voice.Settings()) != nil {
		return w.recorded + " " + w.refuseBy
	}
	return w.recorded + " " + w.refuseByKey
}

// refuse returns a function that stops and deletes the recording, or nil if the call is not recorded.
func (p *placed) refuse() func(ctx context.Context) {
	if !p.agent.Record {
		return nil
	}
	return func(ctx context.Context) {
		r := p.tap.stop()
		if r == nil { // refused before
			return
		}
		if err := r.Discard(); err != nil { // incomplete recordings expire
			p.o.Log.WarnContext(ctx, "delete a refused recording", "company", p.line.CompanyID, "call", p.call.ID, "error", err)
		}
		p.progress.RecordingRefused()
	}
}
