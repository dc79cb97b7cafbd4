pub mod modules;
pub mod traits;
