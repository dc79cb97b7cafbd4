using System;
namespace Acme.Shop;
/// <summary>A shop.</summary>
public class Shop : Base, IPriced {
  private int rate = 2;
  public string Name { get; set; }
  public Shop(int a) { }
  public int Total(Cart c) { return c.Sum(); }
  public event Action E;
  const int K = 1;
}
interface IPriced { int Cost(); }
struct P { public int x; }
record R(int A);
enum E { A, B }
delegate int D(int x);
namespace N { class Q {} }
