package interfaces

import "fmt"

// Shape is anything with an area.
type Shape interface {
	Area() float64
}

type Named interface {
	Shape
	fmt.Stringer
}

type Square struct {
	Side float64
}

func (s Square) Area() float64 { return s.Side * s.Side }

func (s Square) String() string { return fmt.Sprintf("square %v", s.Side) }

func Total(shapes ...Shape) (sum float64) {
	for _, shape := range shapes {
		sum += shape.Area()
	}
	return sum
}

func use() float64 {
	var n Named = Square{Side: 2}
	return Total(n, &Square{3})
}
