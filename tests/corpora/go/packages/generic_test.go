package packages

import "testing"

func TestRun(t *testing.T) {
	if len(run()) != 2 {
		t.Fatal("two are expected")
	}
}
