package graphtest

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Post is one request to send a message.
type Post struct {
	Ref      string // biz_opaque_callback_data
	To       string
	At       time.Time
	ID       string // the wamid that it has or would have had
	Body     []byte // nil if Options.Loose is set
	Accepted bool   // by the response, or despite a failure
}

// record stores the posts.
type record struct {
	mu    sync.Mutex
	epoch string
	seq   int // for the ids
	total int // posts since the last Forget
	byRef map[string][]Post
}

func newRecord() record {
	return record{epoch: strconv.FormatInt(time.Now().UnixNano(), 36), byRef: map[string][]Post{}}
}

// add assigns an id to the post.
func (r *record) add(p Post) Post {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	r.total++
	p.ID = "wamid." + r.epoch + "." + strconv.Itoa(r.seq)
	r.byRef[p.Ref] = append(r.byRef[p.Ref], p)
	return p
}

// accept marks a post as accepted by the channel.
func (r *record) accept(p Post) {
	r.mu.Lock()
	defer r.mu.Unlock()
	posts := r.byRef[p.Ref]
	if at := slices.IndexFunc(posts, func(x Post) bool { return x.ID == p.ID }); at >= 0 {
		posts[at].Accepted = true
	}
}

// has reports whether an accepted post has this id.
func (r *record) has(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, posts := range r.byRef {
		if slices.ContainsFunc(posts, func(x Post) bool { return x.ID == id && x.Accepted }) {
			return true
		}
	}
	return false
}

// Posts returns the posts with this ref, oldest first, regardless of the response.
func (r *record) Posts(ref string) []Post {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.byRef[ref])
}

// All returns the posts of all refs.
func (r *record) All() map[string][]Post {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := maps.Clone(r.byRef)
	for ref, posts := range all {
		all[ref] = slices.Clone(posts)
	}
	return all
}

// Total returns the number of posts.
func (r *record) Total() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

// Forget removes all posts. Ids stay unique.
func (r *record) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total, r.byRef = 0, map[string][]Post{}
}
