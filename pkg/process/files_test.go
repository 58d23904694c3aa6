package process

import "testing"

func TestRequestsFitTheFiles(t *testing.T) {
	for _, c := range []struct{ n, files, want int }{
		{256, 0, 256}, {256, 1 << 20, 256}, {256, 4096, 256}, {256, 1024, 234}, {256, 256, 42}, {256, 64, 1}, {7, 1024, 7},
	} {
		if got := FitFiles(c.n, c.files); got != c.want {
			t.Errorf("FitFiles(%d, %d) = %d, want %d", c.n, c.files, got, c.want)
		}
	}
}
