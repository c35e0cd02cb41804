package graphtest

import (
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

// record keeps the posts, in shards, so that counting delays nobody.
type record struct {
	loose  bool
	epoch  string
	shards [32]recordShard
}

type recordShard struct {
	mu    sync.Mutex
	seq   uint64 // of the ids
	total int    // posts since the last Forget
	byRef map[string]*refRecord
}

// refRecord is the posts of one ref. Loose keeps the last one only.
type refRecord struct {
	count    int
	accepted int
	posts    []Post
}

func (r *record) start(loose bool) {
	r.loose = loose
	r.epoch = strconv.FormatInt(time.Now().UnixNano(), 36)
	for i := range r.shards {
		r.shards[i].byRef = make(map[string]*refRecord)
	}
}

func (r *record) shard(ref string) (*recordShard, int) {
	h := uint32(2166136261)
	for i := range len(ref) {
		h = (h ^ uint32(ref[i])) * 16777619
	}
	n := int(h % uint32(len(r.shards)))
	return &r.shards[n], n
}

// add numbers the post and assigns its id.
func (r *record) add(p Post) Post {
	sh, n := r.shard(p.Ref)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.seq++
	sh.total++
	rec := sh.byRef[p.Ref]
	if rec == nil {
		rec = new(refRecord)
		sh.byRef[p.Ref] = rec
	}
	rec.count++
	p.Nth = rec.count
	p.ID = "wamid." + r.epoch + "." + strconv.Itoa(n) + "." + strconv.FormatUint(sh.seq, 36)
	if r.loose && len(rec.posts) > 0 {
		rec.posts[0] = p
	} else {
		rec.posts = append(rec.posts, p)
	}
	return p
}

// accept marks a post as accepted by the channel.
func (r *record) accept(p Post) {
	sh, _ := r.shard(p.Ref)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	rec := sh.byRef[p.Ref]
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
func (s *Server) Count(ref string) int {
	sh, _ := s.record.shard(ref)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if rec := sh.byRef[ref]; rec != nil {
		return rec.count
	}
	return 0
}

// Posts are the posts with this ref, oldest first; the last one only when loose.
func (s *Server) Posts(ref string) []Post {
	sh, _ := s.record.shard(ref)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if rec := sh.byRef[ref]; rec != nil {
		return append([]Post(nil), rec.posts...)
	}
	return nil
}

// Total is the number of posts.
func (s *Server) Total() int {
	n := 0
	for i := range s.record.shards {
		sh := &s.record.shards[i]
		sh.mu.Lock()
		n += sh.total
		sh.mu.Unlock()
	}
	return n
}

// Forget removes all posts; ids stay unique.
func (s *Server) Forget() {
	for i := range s.record.shards {
		sh := &s.record.shards[i]
		sh.mu.Lock()
		sh.total, sh.byRef = 0, make(map[string]*refRecord)
		sh.mu.Unlock()
	}
}

// Each calls f for every ref, in no order, with how many posts it had and how many were accepted. It blocks the server.
func (s *Server) Each(f func(ref string, posts, accepted int)) {
	for i := range s.record.shards {
		sh := &s.record.shards[i]
		sh.mu.Lock()
		for ref, rec := range sh.byRef {
			f(ref, rec.count, rec.accepted)
		}
		sh.mu.Unlock()
	}
}
