package graphtest

import (
	"slices"
	"strconv"
	"sync"
	"time"
)

// Post is one request to send a message.
type Post struct {
	Ref      string // biz_opaque_callback_data
	To       string
	Template string // empty when loose
	Nth      int    // of the posts with this Ref, from 1
	At       time.Time
	ID       string // the wamid it has or would have had
	Body     []byte // nil when loose
	Accepted bool   // the response said so, or it was accepted in spite of a failure
}

// record keeps the posts.
type record struct {
	mu    sync.Mutex
	loose bool
	epoch string
	seq   int // of the ids
	total int // posts since the last Forget
	byRef map[string]*refRecord
}

// refRecord is the posts of one ref. Loose keeps the last one only.
type refRecord struct {
	count    int
	accepted int
	posts    []Post
}

func (r *record) start(loose bool) {
	r.loose, r.epoch, r.byRef = loose, strconv.FormatInt(time.Now().UnixNano(), 36), map[string]*refRecord{}
}

// add numbers the post and assigns its id.
func (r *record) add(p Post) Post {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	r.total++
	rec := r.byRef[p.Ref]
	if rec == nil {
		rec = new(refRecord)
		r.byRef[p.Ref] = rec
	}
	rec.count++
	p.Nth = rec.count
	p.ID = "wamid." + r.epoch + "." + strconv.Itoa(r.seq)
	if r.loose {
		rec.posts = rec.posts[:0]
	}
	rec.posts = append(rec.posts, p)
	return p
}

// accept marks a post as accepted by the channel.
func (r *record) accept(p Post) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := r.byRef[p.Ref]
	if rec == nil {
		return
	}
	rec.accepted++
	for i := range rec.posts {
		if rec.posts[i].ID == p.ID {
			rec.posts[i].Accepted = true
		}
	}
}

// Count is how many posts had this ref, whatever the response.
func (r *record) Count(ref string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec := r.byRef[ref]; rec != nil {
		return rec.count
	}
	return 0
}

// Posts are the posts with this ref, oldest first; the last one only when loose.
func (r *record) Posts(ref string) []Post {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec := r.byRef[ref]; rec != nil {
		return slices.Clone(rec.posts)
	}
	return nil
}

// Total is the number of posts.
func (r *record) Total() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

// Forget removes all posts; ids stay unique.
func (r *record) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total, r.byRef = 0, map[string]*refRecord{}
}

// Each calls f for every ref, in no order, with how many posts it had and how many were accepted. It blocks the server.
func (r *record) Each(f func(ref string, posts, accepted int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for ref, rec := range r.byRef {
		f(ref, rec.count, rec.accepted)
	}
}
