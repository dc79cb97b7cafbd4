use crate::traits::{total, Any, Shape, Square};

macro_rules! doubled {
    ($value:expr) => {
        $value * 2.0
    };
}

const LIMIT: f64 = 4.0;

fn measure<S: Shape>(shape: &S) -> f64 {
    doubled!(shape.twice()).min(LIMIT)
}

pub fn run() -> f64 {
    let square = Square::new(2.0);
    let any = Any::One(square.clone());
    match any {
        Any::One(inner) => measure(&inner) + total(&[Box::new(square)]),
        Any::Nothing => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs() {
        assert!(run() > 0.0);
    }
}
