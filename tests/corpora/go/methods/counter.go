package methods

import "sync"

type Counter struct {
	mu    sync.Mutex
	count int
}

func New(start int) *Counter {
	c := &Counter{count: start}
	c.bump()
	return c
}

func (c *Counter) bump() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	return c.count
}
