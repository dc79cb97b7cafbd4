use std::fmt;

/// Anything with an area.
pub trait Shape {
    fn area(&self) -> f64;

    fn twice(&self) -> f64 {
        2.0 * self.area()
    }
}

#[derive(Debug, Clone)]
pub struct Square {
    pub side: f64,
}

impl Square {
    pub fn new(side: f64) -> Self {
        Self { side }
    }
}

impl Shape for Square {
    fn area(&self) -> f64 {
        self.side * self.side
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "square {}", self.side)
    }
}

pub enum Any {
    One(Square),
    Nothing,
}

pub fn total(all: &[Box<dyn Shape>]) -> f64 {
    all.iter().map(|shape| shape.area()).sum()
}
