package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheReportNamesWhatFailedAndCounts(t *testing.T) {
	events := `{"Action":"run","Package":"carillon/a","Test":"TestParent"}
{"Action":"run","Package":"carillon/a","Test":"TestParent/one"}
{"Action":"output","Package":"carillon/a","Test":"TestParent/one","Output":"of no interest\n"}
{"Action":"pass","Package":"carillon/a","Test":"TestParent/one","Elapsed":2}
{"Action":"run","Package":"carillon/a","Test":"TestParent/two"}
{"Action":"output","Package":"carillon/a","Test":"TestParent/two","Output":"    x_test.go:7: left to make test\n"}
{"Action":"skip","Package":"carillon/a","Test":"TestParent/two","Elapsed":0}
{"Action":"run","Package":"carillon/a","Test":"TestParent/three/elsewhere"}
{"Action":"attr","Package":"carillon/a","Test":"TestParent/three/elsewhere","Key":"elapsed","Value":"1.5"}
{"Action":"pass","Package":"carillon/a","Test":"TestParent/three/elsewhere","Elapsed":0}
{"Action":"pass","Package":"carillon/a","Test":"TestParent","Elapsed":2}
{"Action":"pass","Package":"carillon/a","Elapsed":2.5}
{"Action":"run","Package":"carillon/b","Test":"TestWrong"}
{"Action":"output","Package":"carillon/b","Test":"TestWrong","Output":"    y_test.go:5: a long log\n"}
{"Action":"run","Package":"carillon/b","Test":"TestWrong/inner"}
{"Action":"output","Package":"carillon/b","Test":"TestWrong/inner","Output":"    y_test.go:9: is wrong\n"}
{"Action":"fail","Package":"carillon/b","Test":"TestWrong/inner","Elapsed":1}
{"Action":"fail","Package":"carillon/b","Test":"TestWrong","Elapsed":1}
{"Action":"run","Package":"carillon/b","Test":"TestHangs"}
{"Action":"output","Package":"carillon/b","Output":"panic: test timed out\n"}
{"Action":"fail","Package":"carillon/b","Elapsed":3}
{"ImportPath":"carillon/c [carillon/c.test]","Action":"build-output","Output":"c/c.go:1:1: no sense\n"}
{"Action":"fail","Package":"carillon/c","Elapsed":0,"FailedBuild":"carillon/c [carillon/c.test]"}
{"Action":"skip","Package":"carillon/d","Elapsed":0}
`
	const want = `ok       2.5 s     2 tests  carillon/a
FAIL     3.0 s     0 tests  carillon/b
        y_test.go:9: is wrong
        y_test.go:5: a long log
    panic: test timed out
FAIL     0.0 s     0 tests  carillon/c
    c/c.go:1:1: no sense
go: downloading something

The slowest tests:
         2.0 s  a TestParent/one
         1.5 s  a TestParent/three/elsewhere
1 skipped: left to make test
2 passed, 3 failed in 1 min 5 s
`
	var out strings.Builder
	r := newReport(&out)
	if err := r.read(strings.NewReader(events + "go: downloading something\n")); err != nil {
		t.Fatal(err)
	}
	r.summary(65 * time.Second)
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
