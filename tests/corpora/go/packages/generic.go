package packages

import (
	m "example.com/corpus/methods"
)

type Number interface{ ~int | ~float64 }

const (
	Low = iota
	High
)

func Map[T, U any](in []T, f func(T) U) []U {
	var out []U
	for _, v := range in {
		out = append(out, f(v))
	}
	return out
}

func double[N Number](n N) N { return n * 2 }

func run() []int {
	counter := m.New(High)
	counter.Twice()
	handler := func(n int) int { return double(n) + Low }
	return Map([]int{1, 2}, handler)
}
