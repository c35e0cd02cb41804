package notify_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"carillon"
	"carillon/internal/base/content"
	"carillon/internal/base/provider"
	"carillon/internal/store"
	"carillon/internal/store/storetest"
)

// deferred accepts a message after a number of attempts with a temporary fault of the channel. It is called by one
// goroutine at a time for each message.
func deferred(times int) func(m *provider.Outgoing) provider.Outcome {
	asked := make(chan map[string]int, 1)
	asked <- map[string]int{}
	return func(m *provider.Outgoing) provider.Outcome {
		all := <-asked
		defer func() { asked <- all }()
		all[m.Number]++
		if all[m.Number] <= times {
			return provider.Outcome{Verdict: provider.RetryLater}
		}
		return provider.Outcome{Verdict: provider.Sent, ProviderID: "wamid." + m.Ref.String()}
	}
}

// withMedia gives the rig's template an image, whose file is checked with check.
func withMedia(check func(begin time.Time) error) func(r *rig) {
	return func(r *rig) {
		begin := time.Now()
		r.sender.MediaCheck = "full"
		r.template.Components = append(r.template.Components, carillon.Component{
			Type: content.TypeHeader, Format: "IMAGE",
			Example: &carillon.ComponentExample{HeaderHandle: []string{"https://acme.test/a.jpg"}},
		})
		r.media = func(context.Context, string, string) (bool, error) { return false, check(begin) }
	}
}

func image(numbers ...string) []byte {
	return []byte(replace(string(body("", numbers...)), `"components_push":{`,
		`"components_push":{"header_image":"https://acme.test/a.jpg",`))
}

func TestFaultsOfOurOwnUseUpNoAttempts(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, withMedia(func(begin time.Time) error {
			if time.Since(begin) < 9*time.Minute {
				return errors.New("the network is down")
			}
			return nil
		}))
		r.provider.decide = deferred(9)
		defer r.start()()
		id := r.accept(image("34600111222"))
		time.Sleep(8 * time.Minute)
		synctest.Wait()
		if n := r.provider.count(); n != 0 {
			t.Errorf("%d requests left while the file could not be reached", n)
		}
		time.Sleep(6 * time.Hour)
		synctest.Wait()
		v := r.view(id)
		if x := v.Recipients[0]; x.State != carillon.StateSent || r.provider.count() != 10 || x.Attempts < 15 {
			t.Errorf("after %d requests the recipient stands at %+v", r.provider.count(), x)
		}
	})
}

func TestFileThatStaysOutOfReachFailsTheMessage(t *testing.T) {
	dir := storetest.Folder(t)
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, store.Options{Dir: dir}, withMedia(func(time.Time) error { return errors.New("no such host") }))
		defer r.start()()
		id := r.accept(image("34600111222"))
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		if v := r.view(id); v.State == carillon.StateCompleted {
			t.Errorf("given up too early: %+v", v.Recipients[0])
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if x := r.view(id).Recipients[0]; x.State != carillon.StateFailed || x.Reason != carillon.ReasonMediaRejected ||
			r.provider.count() != 0 {
			t.Errorf("after %d requests the recipient stands at %+v", r.provider.count(), x)
		}
	})
}
