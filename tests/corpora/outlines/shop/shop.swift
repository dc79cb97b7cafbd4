import Foundation
/// A shop.
public class Shop: Base, Priced {
  let rate = 2
  var name: String { return "x" }
  init(a: Int) { }
  func total(cart: Cart) -> Int { return cart.sum() }
  subscript(i: Int) -> Int { 1 }
  deinit {}
}
struct P { var x: Int }
enum E: Int { case a, b
 case c(Int) }
protocol Priced { func cost() -> Int
 var q: Int { get } }
extension Shop { func more() {} }
func free(_ x: Int) -> Int { free(x) }
typealias T = Int
actor A {}
