import 'a.dart';
/// A shop.
class Shop extends Base with M implements Priced {
  final int rate = 2;
  Shop(this.rate);
  Shop.named();
  factory Shop.f() => Shop(1);
  int total(Cart c) { return c.sum(); }
  int get x => 1;
  set x(int v) {}
  int operator +(o) => 1;
}
abstract class Priced { int cost(); }
mixin M {}
enum E { a, b }
extension X on Shop { void more() {} }
int free(int x) => free(x);
typedef T = int;
const top = 1;
