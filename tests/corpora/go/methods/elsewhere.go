package methods

// Twice is a method written in another file than its type.
func (c *Counter) Twice() int {
	return c.bump() + c.bump()
}

type Loud struct {
	*Counter
	onBump func(int) int
}

func (l Loud) run() {
	l.Twice()
	l.onBump(l.count)
	step := l.bump
	step()
}
