package acme.shop
import foo.Bar
/** A shop. */
class Shop(val rate: Int) extends Base with Priced {
  val x = 1
  var y: Int = 2
  def total(c: Cart): Int = c.sum()
  type T = Int
}
object Shop { def apply(): Shop = new Shop(1) }
trait Priced { def cost: Int }
case class P(a: Int)
enum E { case A, B }
given ord: Ordering[P] = null
extension (p: P) def twice = p
