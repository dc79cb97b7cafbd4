package acme.shop
import foo.Bar
/** A shop. */
class Shop(val rate: Int) : Base(), Priced {
  val x = 1
  fun total(c: Cart): Int { return c.sum() }
  companion object { fun make() = Shop(1) }
  constructor(a: Int, b: Int) : this(a)
}
interface Priced { fun cost(): Int }
object Single { }
data class P(val a: Int)
enum class E { A, B }
fun free(x: Int) = free(x)
typealias T = Int
val top = 1
fun P.ext() = 1
