struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
  double twice() const { return 2 * area(); }
};

class Square : public Shape {
 public:
  explicit Square(double side) : side(side) {}
  double area() const override { return side * side; }
  bool operator<(const Square &other) const { return side < other.side; }

 private:
  double side;
};

enum class Colour { Red, Blue };

static Colour pick(bool red) { return red ? Colour::Red : Colour::Blue; }

double run() {
  Square square(2);
  const Shape &shape = square;
  auto f = [&](double x) { return x + shape.area(); };
  return f(shape.twice()) + (pick(true) == Colour::Red);
}
