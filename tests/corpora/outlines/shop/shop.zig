const std = @import("std");
/// A shop.
pub const Shop = struct {
    rate: u32,
    pub fn total(self: *Shop, c: Cart) u32 { return c.sum(self.rate); }
    const inner = 3;
};
pub const E = enum { a, b };
pub const U = union(enum) { x: i32 };
const Err = error{ Bad };
pub fn free(x: u32) u32 { return free(x); }
var global: u32 = 1;
test "adds" { _ = free(1); }
